//! Completions and manual pages know every verb.

use clap_complete::Shell;

fn visible_verbs() -> Vec<String> {
    let command = surefit_lab::command();
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    verbs.map(|verb| verb.get_name().to_owned()).collect()
}

#[test]
fn every_shell_completes_every_verb() {
    let verbs = visible_verbs();
    assert!(verbs.len() >= 7, "{verbs:?}");
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut surefit_lab::command(), "surefit", &mut script);
        let script = String::from_utf8(script).expect("text");
        for verb in &verbs {
            assert!(script.contains(verb.as_str()), "{shell}: {verb}");
        }
        assert!(script.contains("find-min-heap"), "{shell}");
    }
}

#[test]
fn every_verb_has_a_manual_page() {
    let directory = tempfile::tempdir().expect("a directory");
    clap_mangen::generate_to(surefit_lab::command(), directory.path()).expect("written");
    for verb in visible_verbs() {
        let page = directory.path().join(format!("surefit-{verb}.1"));
        let text = std::fs::read_to_string(&page).expect(&verb);
        assert!(text.contains("NAME") && text.contains(&verb), "{verb}");
    }
    let hidden = format!("surefit-{}.1", surefit_measure::child::VERB);
    assert!(!directory.path().join(hidden).exists());
}
