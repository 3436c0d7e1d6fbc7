# A table of 300,000 rows made, indexed, joined, searched, changed, sorted, vacuumed and checked; digests of the results.
needs=(sqlite3:sqlite3)
version() { "$@" sqlite3 --version; }
prepare() { :; }
run() { "$@" sqlite3 -batch -bail data.db <"$input/job.sql"; }
