//! Chooses the memory of the board and the linker's script, by the target.

use std::path::PathBuf;
use std::{env, fs};

/// A board: its target, its file in `boards/`, and the script that makes an image.
const BOARDS: [(&str, &str, &str); 4] = [
    ("thumbv7em-none-eabihf", "mps2-an386.x", "link.x"),
    ("thumbv6m-none-eabi", "microbit.x", "link.x"),
    ("riscv32imc-unknown-none-elf", "virt.x", "image.x"),
    ("armv5te-none-eabi", "verdex.x", "image.x"),
];

fn main() {
    println!("cargo::rerun-if-changed=boards");
    println!("cargo::rustc-check-cfg=cfg(small)");
    let target = env::var("TARGET").expect("cargo names the target");
    let Some((_, memory, script)) = BOARDS.iter().find(|board| board.0 == target) else {
        return;
    };
    let memory = match env::var_os("CARGO_FEATURE_WORST") {
        Some(_) => "mps2-an386-whole.x",
        None => memory,
    };
    // The linker finds `memory.x` in the folder of what this script writes.
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    let text = fs::read(format!("boards/{memory}")).expect("the board's memory");
    fs::write(out.join("memory.x"), text).expect("a file in that folder");
    println!("cargo::rustc-link-search={}", out.display());
    println!(
        "cargo::rustc-link-search={}",
        fs::canonicalize("boards").expect("a folder").display()
    );
    println!("cargo::rustc-link-arg=-T{script}");
    // Sections are not padded to the pages of an operating system.
    println!("cargo::rustc-link-arg=--nmagic");
    if memory == "microbit.x" {
        println!("cargo::rustc-cfg=small");
    }
}
