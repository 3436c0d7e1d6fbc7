# Tables, strings, closures, coroutines and finalizers, under both collectors.
needs=(lua5.4:lua5.4)
version() { "$@" lua5.4 -v; }
prepare() { :; }
run() { "$@" lua5.4 "$input/job.lua"; }
