//! What happens around a program: forks, libraries that come and go.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{compile, compiled, library, preloaded, succeeds, text};

#[test]
fn handlers_at_forks_may_allocate_whenever_they_are_registered() {
    for way in ["preinit", "constructor", "main"] {
        let program = compiled("atfork", way);
        let output = succeeds(preloaded(&program).arg(way));
        assert_eq!(text(&output.stdout), "done\n");
        assert_eq!(text(&output.stderr), "");
    }
}

/// RTLD_DEEPBIND has a library look for malloc in the C library before it looks at what was
/// preloaded.
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

/// A plugin with a heap of its own begins it while another thread forks: the fork sees all of it or
/// nothing.
#[test]
fn a_heap_may_begin_while_the_process_forks() {
    let program = compiled("begins", "");
    let plugin = library().with_file_name("libplugin.so");
    for microseconds in (0..600).step_by(25) {
        let output = succeeds(
            Command::new(&program)
                .arg(&plugin)
                .arg(microseconds.to_string()),
        );
        assert_eq!(text(&output.stdout), "done\n", "after {microseconds} us");
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn a_library_that_is_closed_stays_for_threads_that_used_it() {
    let program = compiled("unload", "");
    let plugin = library().with_file_name("libplugin.so");
    assert!(plugin.exists(), "`cargo test -p surefit-malloc` builds it");
    for (library, function) in [(library(), "malloc"), (plugin, "surefit_plugin_work")] {
        let output = succeeds(Command::new(&program).arg(library).arg(function));
        assert_eq!(text(&output.stdout), "done\n");
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn a_library_that_the_program_began_with_stays_too() {
    let program = compiled("unload", "preloaded");
    let output = succeeds(preloaded(&program).arg(library()).arg("malloc"));
    assert_eq!(text(&output.stdout), "done\n");
}

/// Builds and shells begin many programs that hardly allocate.
#[test]
fn the_first_call_makes_the_heap_unless_a_variable_asks_before() {
    let program = compiled("first", "");
    succeeds(&mut preloaded(&program));
    succeeds(preloaded(&program).arg("asked").env("SUREFIT_STATS", "0"));
}

#[test]
fn heaps_of_one_process_are_not_in_each_others_way() {
    let program = compiled("two_heaps", "");
    let plugin = library().with_file_name("libplugin.so");
    let output = succeeds(preloaded(&program).arg(plugin));
    assert_eq!(text(&output.stdout), "done\n");
    assert_eq!(text(&output.stderr), "");
}
