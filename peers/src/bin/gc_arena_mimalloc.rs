//! Binary trees on `gc-arena` and mimalloc.

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    surefit_peers::run(surefit_peers::arenas::Arenas::new)
}
