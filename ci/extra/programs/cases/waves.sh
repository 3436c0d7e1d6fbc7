# 200 threads of python in waves, programs started from many threads at once, and processes forked while threads allocate.
needs=(python3:python3)
version() { "$@" python3 --version; }
prepare() { :; }
run() { PYTHONMALLOC=malloc "$@" python3 "$input/waves.py"; }
