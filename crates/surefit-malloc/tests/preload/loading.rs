//! What happens around a program: forks, libraries that come and go.

use crate::program::{compiled, preloaded, succeeds, text};

#[test]
fn handlers_at_forks_may_allocate_whenever_they_are_registered() {
    for way in ["preinit", "constructor", "main"] {
        let program = compiled("atfork", way);
        let output = succeeds(preloaded(&program).arg(way));
        assert_eq!(text(&output.stdout), "done\n");
        assert_eq!(text(&output.stderr), "");
    }
}
