# A workspace of six generated crates built by Debian's cargo, two compilers at once; the program byte for byte, and what it prints.
needs=(cargo:cargo rustc:rustc)
version() { "$@" cargo --version; }
prepare() {
  local i
  printf '[workspace]\nmembers = ["part-*", "whole"]\n' >Cargo.toml
  for i in 1 2 3 4 5; do
    mkdir -p part-$i/src
    printf '[package]\nname = "part-%s"\nversion = "0.1.0"\nedition = "2021"\n' $i >part-$i/Cargo.toml
    awk -f "$input/types.awk" -v types=$i >part-$i/src/lib.rs
  done
  mkdir -p whole/src
  printf '[package]\nname = "whole"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n' >whole/Cargo.toml
  for i in 1 2 3 4 5; do printf 'part-%s = { path = "../part-%s" }\n' $i $i; done >>whole/Cargo.toml
  echo 'fn main() { println!("{} {} {} {} {}", part_1::all(), part_2::all(), part_3::all(), part_4::all(), part_5::all()); }' >whole/src/main.rs
}
run() {
  "$@" cargo build --quiet --offline --jobs 2
  sha256sum target/debug/whole
  "$@" target/debug/whole
}
