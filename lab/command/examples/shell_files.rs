//! Writes what a shell and `man` know of the command: completions, and a manual page per verb.
//!
//! ```sh
//! cargo run -p surefit-lab --example shell_files -- DIR
//! ```
//! DIR then holds `surefit.bash`, `_surefit` (zsh), `surefit.fish`, `surefit.1`,
//! `surefit-compare.1` and so on. To try them: `source DIR/surefit.bash` and `man DIR/surefit.1`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::Shell;

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("shell_files: name a directory to write to");
        return ExitCode::from(2);
    };
    match write(&directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let directory = directory.display();
            eprintln!("shell_files: {directory}: {error}; choose another directory");
            ExitCode::from(2)
        }
    }
}

fn write(directory: &PathBuf) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut surefit_lab::command(), "surefit", directory)?;
    }
    clap_mangen::generate_to(surefit_lab::command(), directory)
}
