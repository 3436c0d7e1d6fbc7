# A generated crate of 12 types with traits, compiled by Debian's compiler with optimisation: the library byte for byte. The compilers of rustup have
# a malloc of their own (jemalloc, linked into the program), which no preloaded library replaces; Debian's takes malloc.
needs=(rustc:rustc)
version() { "$@" rustc --version; }
prepare() { awk -f "$input/types.awk" -v types=12 >job.rs; }
run() {
  "$@" rustc --edition 2021 -O -g -C codegen-units=4 --crate-type rlib --crate-name job job.rs
  sha256sum libjob.rlib
}
