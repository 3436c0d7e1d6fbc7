# A C++ program of many threads: new and delete in all forms, exceptions, containers, destructors of threads, frees by other threads.
needs=(g++:g++)
version() { "$@" g++ --version; }
prepare() { g++ -std=c++17 -O2 -fsized-deallocation -fno-builtin -Wall -Wextra -pthread "$input/threads.cpp" -o job; }
probe() { "$@" ./job short; }
run() { "$@" ./job; }
