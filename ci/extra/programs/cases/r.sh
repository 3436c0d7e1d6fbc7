# Vectors, data frames, models, strings, environments, closures and serialisation; figures rounded to six digits.
needs=(Rscript:r-base-core)
version() { "$@" R --version; }
prepare() { :; }
run() { "$@" Rscript --vanilla "$input/job.R"; }
