# A C file of 700 functions compiled, once with debug information and once for link-time optimisation: objects byte for byte.
needs=(gcc:gcc)
version() { "$@" gcc --version; }
prepare() {
  awk 'BEGIN { print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"; for (i = 0; i < 700; i++)
    printf "struct s%d { int a[%d]; struct s%d *next; };\nint f%d(struct s%d *s, int n) { int t = 0; for (int i = 0; i < n; i++) { switch (i %% 7) { case 0: t += s->a[i %% %d]; break; case 3: t ^= i * %d; break; default: t -= (int)strlen(\"text %d\"); } } return s->next ? t + f%d(s->next, n - 1) : t; }\n", i, i % 9 + 1, i, i, i, i % 9 + 1, i, i, i }' >job.c
  echo 'int main(int c, char **v) { (void)v; struct s5 s = { { c, 2, 3 }, 0 }; printf("%d\n", f5(&s, 1000)); return 0; }' >>job.c
}
run() {
  "$@" gcc -O2 -g -w -c job.c -o job.o
  "$@" gcc -O3 -w -flto=2 -frandom-seed=1 job.c -o job
  sha256sum job.o job
  ./job
}
