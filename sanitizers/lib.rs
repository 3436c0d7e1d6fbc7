//! The programs are the tests of the heaps and in known/; see ci/sanitizers.sh.
