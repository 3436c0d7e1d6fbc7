# A Rust program of 48 threads that send each other collections and strings, in waves.
needs=(rustc:rustc)
version() { "$@" rustc --version; }
prepare() { rustc --edition 2021 -O -o job "$input/threads.rs"; }
probe() { "$@" ./job short; }
run() { "$@" ./job; }
