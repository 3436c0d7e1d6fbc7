//! The committed header is what cbindgen writes today, without the comma after the last name of an
//! enumeration: C++98 has none.

use std::path::Path;

/// With `SUREFIT_WRITE_HEADER` set, the test writes the header instead.
#[test]
fn the_header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config =
        cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
    let bindings = cbindgen::Builder::new()
        .with_crate(folder)
        .with_config(config)
        .generate()
        .expect("the sources are read");
    let mut written = Vec::new();
    bindings.write(&mut written);
    let written = String::from_utf8(written).expect("text");
    let written = written.replace(",\n} ", "\n} ");
    let header = folder.join("include/surefit.h");
    if std::env::var_os("SUREFIT_WRITE_HEADER").is_some() {
        std::fs::write(&header, &written).expect("writable");
    }
    let committed = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(
        committed == written,
        "include/surefit.h is not what the sources say: SUREFIT_WRITE_HEADER=1 cargo test -p surefit-c --test header"
    );
}
