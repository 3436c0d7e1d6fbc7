# Hashes, strings, regular expressions, objects with finalizers, threads, fibers, JSON, a compacting collection and forked processes.
needs=(ruby:ruby)
version() { "$@" ruby --version; }
prepare() { :; }
run() { "$@" ruby "$input/job.rb"; }
