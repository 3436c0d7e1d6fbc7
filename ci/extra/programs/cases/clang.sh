# A C file of 120 functions compiled with optimisation and debug information, to the compiler's own language and back, and analysed: byte for byte.
needs=(clang:clang)
version() { "$@" clang --version; }
prepare() {
  awk 'BEGIN { print "int abs(int);"; for (i = 0; i < 120; i++)
    printf "struct s%d { int a[%d]; struct s%d *next; };\nint f%d(struct s%d *s, int n) { int t = 0; for (int i = 0; i < n; i++) { switch (i %% 7) { case 0: t += s->a[i %% %d]; break; case 3: t ^= abs(i * %d); break; default: t -= \"text %d\"[i %% 5]; } } return s->next ? t + f%d(s->next, n - 1) : t; }\n", i, i % 9 + 1, i, i, i, i % 9 + 1, i, i, i }' >job.c
}
probe() { "$@" clang -fsyntax-only job.c; }
run() {
  "$@" clang -O2 -g -w -c job.c -o job.o
  "$@" clang -O3 -w -fvectorize -emit-llvm -c job.c -o job.bc
  "$@" clang -O1 -w -c job.bc -o again.o
  "$@" clang --analyze -Xclang -analyzer-output=text job.c
  sha256sum job.o job.bc again.o
}
