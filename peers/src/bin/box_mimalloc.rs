//! Binary trees on `Box` and mimalloc.

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    surefit_peers::run(|_| Ok(surefit_peers::boxes::Boxes::default()))
}
