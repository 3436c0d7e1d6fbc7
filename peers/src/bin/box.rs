//! Binary trees on `Box` and the platform's malloc.

fn main() -> std::process::ExitCode {
    surefit_peers::run(|_| Ok(surefit_peers::boxes::Boxes::default()))
}
