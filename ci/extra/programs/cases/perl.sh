# Hashes, regular expressions, sorting, closures, and a few interpreters in threads.
needs=(perl:perl)
version() { "$@" perl --version; }
prepare() { :; }
run() { "$@" perl "$input/job.pl"; }
