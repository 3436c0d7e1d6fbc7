//! Binary trees on `gc-arena` and the platform's malloc.

fn main() -> std::process::ExitCode {
    surefit_peers::run(surefit_peers::arenas::Arenas::new)
}
