# The standard library parsed, counted, packed and sorted, by one thread and by eight; small objects from python's own allocator.
needs=(python3:python3)
version() { "$@" python3 --version; }
prepare() { :; }
run() { "$@" python3 "$input/job.py"; }
