//! Runs the command once, with limits, and judges how it ended.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Address space of a child, in KiB: what takes more must be refused.
const MOST_KIB: &str = "1500000";

/// A child that takes longer hangs. It is so much because machines that run tests are slow, and no
/// case takes a tenth.
const MOST_TIME: Duration = Duration::from_secs(120);

/// Where standard output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdout {
    /// To a file that is read afterwards.
    Kept,
    /// To a full disk.
    Full,
}

/// One command line.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Everything behind the command's name.
    pub(crate) arguments: Vec<OsString>,
    /// Where standard output goes.
    pub(crate) stdout: Stdout,
    /// Whether stderr holds figures too, so that its lines are not counted.
    pub(crate) figures_on_stderr: bool,
    /// Whether what is printed with status 0 or 1 must be one JSON value.
    pub(crate) json: bool,
}

/// Runs a case; its exit status.
///
/// # Errors
/// What is wrong with how it ended.
pub(crate) fn run(case: &Case) -> Result<usize, String> {
    let printed = tempfile::NamedTempFile::new().expect("a file");
    let complaint = tempfile::NamedTempFile::new().expect("a file");
    let stdout = match case.stdout {
        Stdout::Kept => printed.reopen(),
        Stdout::Full => File::options().write(true).open("/dev/full"),
    };
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MOST_KIB}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_surefit"))
        .args(&case.arguments)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(stdout.expect("a file"))
        .stderr(complaint.reopen().expect("a file"))
        .spawn()
        .expect("sh starts");
    let status = ended(&mut child);
    let read = |path| String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned();
    let complaint = read(complaint.path());
    let status = status.ok_or_else(|| format!("hangs\n{complaint}"))?;
    judge(case, status, &read(printed.path()), &complaint)
        .map_err(|why| format!("{why}: {status}\n{}", cut(&complaint)))
}

/// Waits for a child; `None`, and it is killed, if it takes too long.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Some(status);
        }
        if began.elapsed() > MOST_TIME {
            child.kill().expect("a child of ours");
            child.wait().expect("a child of ours");
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn judge(case: &Case, status: ExitStatus, printed: &str, complaint: &str) -> Result<usize, String> {
    let code = match status.code() {
        Some(code @ 0..=2) => code as usize,
        Some(_) => return Err("no status of ours".to_owned()),
        None => return Err(format!("ended by signal {:?}", status.signal())),
    };
    if complaint.contains("panicked") {
        return Err("panicked".to_owned());
    }
    let lines = complaint.lines().count();
    // Where no command was named, the usage stands above the complaint.
    let is_usage = complaint.ends_with("surefit: name a command\n");
    if lines > 2 && !is_usage && !case.figures_on_stderr {
        return Err(format!("{lines} lines on stderr"));
    }
    let complains = complaint.lines().any(|line| line.starts_with("surefit: "));
    if code > 0 && !complains {
        return Err("says not what is wrong".to_owned());
    }
    if code == 0 && complaint.contains("surefit: ") {
        return Err("complains, and the status is 0".to_owned());
    }
    if code == 0 && case.stdout == Stdout::Full {
        return Err("prints to a full disk".to_owned());
    }
    if code == 0 && case.json && !is_json(printed) {
        return Err("prints what is not JSON".to_owned());
    }
    Ok(code)
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

fn cut(text: &str) -> String {
    text.chars().take(800).collect()
}

#[cfg(test)]
mod tests {
    use super::{Case, Stdout, judge, run};
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn case(arguments: &[&str], stdout: Stdout) -> Case {
        Case {
            arguments: arguments.iter().map(Into::into).collect(),
            stdout,
            figures_on_stderr: false,
            json: true,
        }
    }

    #[test]
    fn the_judge_sees_each_fault() {
        let kept = case(&[], Stdout::Kept);
        let says = |raw, printed, complaint| {
            let judged = judge(&kept, ExitStatus::from_raw(raw), printed, complaint);
            judged.map_err(|why| why.split(' ').next().unwrap_or("").to_owned())
        };
        let fault = |word: &str| Err(word.to_owned());
        assert_eq!(says(0, "{}", ""), Ok(0));
        assert_eq!(says(2 << 8, "", "surefit: x"), Ok(2));
        assert_eq!(says(101 << 8, "", "surefit: x"), fault("no"));
        assert_eq!(says(9, "", ""), fault("ended"));
        assert_eq!(says(2 << 8, "", "thread panicked at"), fault("panicked"));
        assert_eq!(says(2 << 8, "", "surefit: a\nb\nc"), fault("3"));
        assert_eq!(says(1 << 8, "", ""), fault("says"));
        assert_eq!(says(0, "{}", "surefit: x"), fault("complains,"));
        assert_eq!(says(0, "{", ""), fault("prints"));
        let full = case(&[], Stdout::Full);
        assert!(judge(&full, ExitStatus::from_raw(0), "{}", "").is_err());
    }

    #[test]
    fn the_command_is_run_under_its_limits() {
        let found = run(&case(&["no-verb"], Stdout::Kept));
        assert_eq!(found, Ok(2));
        let mut help = case(&["--help"], Stdout::Kept);
        help.json = false;
        assert_eq!(run(&help), Ok(0));
        help.stdout = Stdout::Full;
        assert_eq!(run(&help), Ok(2));
    }
}
