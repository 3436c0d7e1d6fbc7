//! A Rust program with this allocator writes the statistics that it is asked for, once, however it
//! ends: it returns, exits or panics, alone or behind the library to preload. This program begins
//! itself again, and looks what that wrote. It has no harness, so that it says itself how it ends.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod linux {
    use std::path::Path;
    use std::process::{Command, Output, exit};
    use std::{env, fs};

    use surefit_malloc::SurefitMalloc;

    #[global_allocator]
    static ALLOCATOR: SurefitMalloc = SurefitMalloc;

    /// How the program ends.
    const ENDS: &str = "SUREFIT_TEST_ENDS";

    /// What the program keeps if it is asked to.
    const KEPT: usize = 32 << 20;

    /// The program as it ends in one way.
    fn ends(how: &str, statistics: Option<&str>) -> Output {
        behind(None, how, statistics)
    }

    /// The program as it ends in one way, with a library in front.
    fn behind(library: Option<&Path>, how: &str, statistics: Option<&str>) -> Output {
        let mut again = Command::new(env::current_exe().expect("a path"));
        again.env(ENDS, how).env_remove("SUREFIT_STATS");
        if let Some(statistics) = statistics {
            again.env("SUREFIT_STATS", statistics);
        }
        if let Some(library) = library {
            again.env("LD_PRELOAD", library);
        }
        again.output().expect("it begins")
    }

    fn is_json(line: &str) -> bool {
        line.starts_with('{') && line.contains("\"allocated\"") && line.ends_with('}')
    }

    fn judge(how: &str, code: i32) {
        let output = ends(how, Some("json"));
        let errors = String::from_utf8(output.stderr).expect("text");
        let written = errors.lines().filter(|line| is_json(line)).count();
        assert_eq!(
            (output.status.code(), written),
            (Some(code), 1),
            "{how}: {errors}"
        );
        let output = ends(how, None);
        let errors = String::from_utf8(output.stderr).expect("text");
        assert!(!errors.contains("allocated"), "{how}: {errors}");
    }

    /// The program and the library have a heap each. That of the program is written, and only it.
    fn judge_behind_the_library() {
        let tests = env::current_exe().expect("a path");
        let folder = tests.ancestors().nth(2).expect("a profile's folder");
        let library = folder.join("examples/libsurefit_malloc.so");
        let is_there = "`cargo test -p surefit-malloc` builds the library";
        assert!(library.exists(), "{is_there}");
        let output = behind(Some(&library), "keeps", Some("json"));
        let errors = String::from_utf8(output.stderr).expect("text");
        let written: Vec<_> = errors.lines().filter(|line| is_json(line)).collect();
        let [written] = written[..] else {
            panic!("not once: {errors}");
        };
        let (_, rest) = written.split_once("\"allocated\":").expect("the name");
        let digits = rest.split(',').next().expect("a number");
        let allocated: usize = digits.parse().expect("a number");
        assert!(allocated >= KEPT, "{written}");
    }

    pub(super) fn main() {
        match env::var(ENDS).as_deref() {
            Ok("returns") => return,
            Ok("keeps") => {
                Vec::<u8>::with_capacity(KEPT).leak();
                return;
            }
            Ok("exits") => exit(3),
            Ok("panics") => panic!("as asked"),
            _ => {}
        }
        judge("returns", 0);
        judge("exits", 3);
        judge("panics", 101);
        judge_behind_the_library();
        let file = env::temp_dir().join(format!("surefit-ends-{}.json", std::process::id()));
        let to = format!("file:{}", file.display());
        for how in ["returns", "exits"] {
            assert!(ends(how, Some(&to)).stderr.is_empty());
        }
        let written = fs::read_to_string(&file).expect("it was written");
        fs::remove_file(&file).expect("it is there");
        assert_eq!(
            written.lines().filter(|line| is_json(line)).count(),
            2,
            "{written}"
        );
        println!("test ends ... ok");
    }
}

fn main() {
    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    linux::main();
}
