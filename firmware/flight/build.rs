//! Reads the load of the image. Chooses the memory of the board and the linker's script, by the
//! target.

#[path = "src/load.rs"]
#[expect(dead_code, reason = "what a flight asks of its load")]
mod load;

use std::path::PathBuf;
use std::{env, fs};

/// A board: its target, its file in `../boards/`, and the script that makes an image.
const BOARDS: [(&str, &str, &str); 2] = [
    ("thumbv7em-none-eabihf", "mps2-an386.x", "link.x"),
    ("armv5te-none-eabi", "verdex.x", "image.x"),
];

fn main() {
    println!("cargo::rerun-if-changed=../boards");
    println!("cargo::rerun-if-changed=load.txt");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    let text = fs::read_to_string("load.txt").expect("the load");
    match load::Load::parse(&text) {
        // As the compiler reads it.
        Ok(load) => fs::write(out.join("load.rs"), format!("{load:?}")).expect("a file"),
        Err(invalid) => println!("cargo::error=load.txt: {invalid}"),
    }
    let target = env::var("TARGET").expect("cargo names the target");
    let Some((_, memory, script)) = BOARDS.iter().find(|board| board.0 == target) else {
        return;
    };
    // The linker finds `memory.x` in the folder of what this script writes.
    let text = fs::read(format!("../boards/{memory}")).expect("the board's memory");
    fs::write(out.join("memory.x"), text).expect("a file in that folder");
    let boards = fs::canonicalize("../boards").expect("a folder");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-search={}", boards.display());
    println!("cargo::rustc-link-arg=-T{script}");
    // Sections are not padded to the pages of an operating system.
    println!("cargo::rustc-link-arg=--nmagic");
}
