//! The policies of coalescing that experiments compare, and their names.

use surefit_freelist::When;

/// The policies, from the least merging to the most.
pub(crate) const MERGES: [When; 3] = [When::Never, When::Deferred, When::Immediate];

/// The name of a policy, which is also its key.
pub(crate) const fn merges_name(when: When) -> &'static str {
    match when {
        When::Never => "never",
        When::Deferred => "deferred",
        When::Immediate => "immediate",
    }
}
