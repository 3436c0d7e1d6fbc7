# A C program forks 50 times while eight threads allocate; each child frees, allocates, starts a thread and ends.
needs=(gcc:gcc)
version() { "$@" gcc --version; }
prepare() { gcc -std=gnu11 -O1 -fno-builtin -Wall -Wextra -pthread "$input/fork.c" -o job; }
probe() { "$@" ./job short; }
run() { "$@" ./job; }
