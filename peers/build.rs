//! Links the Boehm-Demers-Weiser collector, if it is asked for: the system's, or the one of the
//! folder `LIBGC_DIR`.

fn main() {
    println!("cargo::rerun-if-env-changed=LIBGC_DIR");
    if std::env::var_os("CARGO_FEATURE_BOEHM").is_none() {
        return;
    }
    if let Ok(folder) = std::env::var("LIBGC_DIR") {
        println!("cargo::rustc-link-search=native={folder}");
    }
    println!("cargo::rustc-link-arg-bin=binary-trees-boehm=-lgc");
}
