//! What happens around a program: forks, libraries that come and go.

use std::fs;
use std::path::Path;

use crate::program::{compile, compiled, preloaded, succeeds, text};

#[test]
fn handlers_at_forks_may_allocate_whenever_they_are_registered() {
    for way in ["preinit", "constructor", "main"] {
        let program = compiled("atfork", way);
        let output = succeeds(preloaded(&program).arg(way));
        assert_eq!(text(&output.stdout), "done\n");
        assert_eq!(text(&output.stderr), "");
    }
}

/// RTLD_DEEPBIND has a library look for malloc in the C library before it looks at what was preloaded.
#[test]
fn libraries_that_are_bound_deeply_have_the_same_malloc() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("deeply");
    let plugins = folder.join("plugins");
    fs::create_dir_all(&plugins).expect("a folder");
    let plugin = plugins.join("libsurefit_test_plugin.so");
    compile("plugin", &plugin, &["-shared", "-fPIC"]);
    let program = folder.join("deeply");
    // The plugin is found by the program's RUNPATH alone.
    let flags = [
        "-rdynamic",
        "-fPIC",
        "-pie",
        "-Wl,--enable-new-dtags,-rpath,$ORIGIN/plugins",
    ];
    compile("deeply", &program, &flags);
    let output = succeeds(&mut preloaded(&program));
    assert_eq!(text(&output.stdout), "done\n");
    assert_eq!(text(&output.stderr), "");
}
