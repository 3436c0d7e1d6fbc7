//! Links with `memory.x`, and again when it changes.

fn main() {
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rustc-link-arg=-Tlink.x");
    // Sections are not padded to the pages of an operating system.
    println!("cargo::rustc-link-arg=--nmagic");
}
