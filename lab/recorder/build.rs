//! Compiles the preloaded library: it exports malloc, so nothing may link it, and Cargo would link
//! a dependency. It needs no crate but `surefit-interpose`, and so no Cargo.
//!
//! There are two calls of the compiler, because that crate stays one: its macro names its own items
//! by `$crate`, so that it cannot be a module here, and Cargo, which builds it for others, does not
//! tell a build script where. Its sources are therefore read beside this package, which is not
//! published.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=preload");
    println!("cargo::rerun-if-changed=src/log.rs");
    println!("cargo::rerun-if-changed=../../crates/surefit-interpose/src");
    let out = PathBuf::from(variable("OUT_DIR"));
    let library = out.join("libsurefit_recorder.so");
    if variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
        && variable("CARGO_CFG_TARGET_POINTER_WIDTH") == "64"
    {
        let interpose = out.join("libsurefit_interpose.rlib");
        compile(
            "../../crates/surefit-interpose/src/lib.rs",
            "surefit_interpose",
            "rlib",
            &interpose,
            None,
        );
        compile(
            "preload/lib.rs",
            "surefit_recorder",
            "cdylib",
            &library,
            Some(&interpose),
        );
    } else {
        std::fs::write(&library, []).expect("cargo's folder can be written");
    }
}

fn compile(root: &str, name: &str, kind: &str, to: &Path, interpose: Option<&Path>) {
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args([
        root,
        "--crate-name",
        name,
        "--crate-type",
        kind,
        "--edition",
        "2024",
    ]);
    rustc.args([
        "--target",
        &variable("TARGET"),
        "-Copt-level=3",
        "-Cpanic=abort",
        "-Cforce-frame-pointers=yes",
        "-Cforce-unwind-tables=yes",
        "-Cstrip=symbols",
    ]);
    rustc.arg("--cap-lints=warn").arg("-o").arg(to);
    if let Some(interpose) = interpose {
        rustc
            .arg("--extern")
            .arg(format!("surefit_interpose={}", interpose.display()));
    }
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let status = rustc.status().expect("the compiler runs");
    assert!(status.success(), "{root} does not compile: {status}");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
