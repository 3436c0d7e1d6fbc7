//! C programs on the library: compiled without a warning by every compiler that is here, and run
//! under the address and the undefined-behaviour sanitizer.

mod compiler;

use compiler::{assert_no_failure, assert_success, compile, folder};

#[test]
fn the_header_is_c99_and_cpp_without_a_warning() {
    let header = folder().join("include/surefit.h");
    let header = header.to_str().expect("a plain name");
    let mut found = 0;
    for (compiler, arguments) in [
        ("cc", &["-std=c99", "-fsyntax-only", "-x", "c"][..]),
        ("gcc", &["-std=c99", "-fsyntax-only", "-x", "c"]),
        ("clang", &["-std=c99", "-fsyntax-only", "-x", "c"]),
        (
            "arm-none-eabi-gcc",
            &["-std=c99", "-ffreestanding", "-fsyntax-only", "-x", "c"],
        ),
        ("g++", &["-std=c++98", "-fsyntax-only", "-x", "c++"]),
        ("g++", &["-std=c++11", "-fsyntax-only", "-x", "c++"]),
    ] {
        // A header that is compiled by itself has no `once`.
        match compile(compiler, &[arguments, &[header]].concat()) {
            Some(output) => {
                assert_success(&output, compiler);
                found += 1;
            }
            None => println!("NOT RUN: the header under {compiler} (it is not here)"),
        }
    }
    assert!(found > 0, "a C compiler is here");
}

#[test]
fn a_c_program_keeps_its_bytes_and_every_misuse_is_an_answer() {
    assert_no_failure(&["tests/c/program.c"], &[], &[]);
}

#[test]
fn a_heap_that_is_told_its_slack_refuses_nothing_and_moves_less() {
    assert_no_failure(&["tests/c/slack.c"], &[], &[]);
}

/// `surefit certify --emit c` wrote their headers.
#[test]
fn programs_on_emitted_headers_are_refused_nothing() {
    for header in ["peaks", "budget", "mixed"].map(|it| format!("tests/c/emitted/{it}")) {
        let header = header.as_str();
        assert_no_failure(&["tests/c/emitted/main.c"], &[header], &["-std=c11"]);
        let program = folder().join(header).join("heap.h");
        let program = program.to_str().expect("a plain name");
        // Nothing uses the demand here.
        let as_cpp = [
            "-std=c++11",
            "-fsyntax-only",
            "-Wno-unused",
            "-x",
            "c++",
            program,
        ];
        match compile("g++", &as_cpp) {
            Some(output) => assert_success(&output, "g++"),
            None => println!("NOT RUN: an emitted header in C++ (no g++ here)"),
        }
    }
}

/// The C code of both READMEs: programs, and statements that go into a function of one.
fn examples() -> Vec<String> {
    let readmes = concat!(
        include_str!("../README.md"),
        include_str!("../../../README.md")
    );
    let blocks = readmes.split("```c\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap_or_default());
    let program = |block: &str| match block.contains("int main(void)") {
        true => block.replace("int main(void)", "static int example(void)"),
        false => {
            let is_included = |line: &&str| line.starts_with("#include");
            let (before, inside): (Vec<_>, Vec<_>) = block.lines().partition(is_included);
            format!(
                "{}\nstatic int example(void) {{\n{}\nreturn 0;\n}}\n",
                before.join("\n"),
                inside.join("\n")
            )
        }
    };
    let main = "#include <stdio.h>\nint main(void) { return example() != 0 || puts(\"0 failures\") < 0; }\n";
    blocks.map(|block| program(block) + main).collect()
}

#[test]
fn the_examples_of_the_readmes_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = examples();
    for call in [
        "alloc_zeroed",
        "can_alloc",
        "check",
        "config_bytes",
        "config_tiny",
        "heap_init_with_slack",
        "is_live",
        "largest_free",
        "raw_calloc",
        "raw_destroy",
        "raw_stats_get",
        "read",
        "resize",
        "slack_bytes",
        "stats_get",
        "walk",
    ] {
        let call = format!("surefit_{call}(");
        assert!(examples.iter().any(|it| it.contains(&call)), "{call}");
    }
    for (number, example) in examples.iter().enumerate() {
        let source = folder.path().join(format!("example{number}.c"));
        std::fs::write(&source, example).expect("written");
        assert_no_failure(&[source.to_str().expect("a plain name")], &[], &[]);
    }
}
