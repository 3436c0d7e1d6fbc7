//! The tests are in tests/; see ci/models.sh.
