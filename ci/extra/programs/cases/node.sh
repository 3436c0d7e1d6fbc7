# Compression, digests, JSON and regular expressions, on the main thread, in the pool of threads and in twelve workers.
needs=(node:nodejs)
version() { "$@" node --version; }
prepare() { :; }
run() { "$@" node "$input/job.js"; }
