# Matrices, sparse matrices, cells, structures, strings, regular expressions and files; figures rounded to six digits.
needs=(octave-cli:octave)
version() { "$@" octave-cli --version; }
prepare() { :; }
run() { "$@" octave-cli --no-init-file --no-site-file --no-history "$input/job.m"; }
