/* Forks 50 times while eight threads allocate. Each child frees what the parent's threads have made, allocates, starts a thread, and ends with 0. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, KEPT = 500, FORKS = 50, SECONDS = 60 };

static atomic_int stop;
static atomic_ulong turns;
/* Objects that any thread, and any child, may take and free. */
static _Atomic(unsigned char *) shared[KEPT];

static size_t size_of(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t n = *state >> 33;
  return n % 100 == 0 ? n % 300000 + 1 : n % 10 == 0 ? n % 5000 + 1 : n % 300 + 1;
}

/* Fails loudly if an object is not what its maker wrote. Its first bytes are its size. */
static void check(unsigned char *object) {
  size_t size;
  memcpy(&size, object, sizeof size);
  for (size_t i = sizeof size; i < size; i += 61)
    if (object[i] != (unsigned char)size) {
      fprintf(stderr, "an object of %zu bytes was overwritten at %zu\n", size, i);
      abort();
    }
}

static unsigned char *make(uint64_t *state) {
  size_t size = size_of(state) + sizeof size;
  unsigned char *object = size % 7 == 0 ? calloc(1, size) : size % 5 == 0 ? aligned_alloc(64, (size + 63) / 64 * 64) : malloc(size);
  if (size % 3 == 0) object = realloc(object, size);
  if (!object) abort();
  memset(object, (unsigned char)size, size);
  memcpy(object, &size, sizeof size);
  return object;
}

static void exchange(uint64_t *state) {
  unsigned char *other = atomic_exchange(&shared[size_of(state) % KEPT], make(state));
  if (!other) return;
  check(other);
  free(other);
}

static void *allocate(void *argument) {
  uint64_t state = (uintptr_t)argument;
  while (!atomic_load(&stop)) {
    exchange(&state);
    atomic_fetch_add(&turns, 1);
  }
  return NULL;
}

static void *allocate_some(void *argument) {
  uint64_t state = (uintptr_t)argument;
  for (int i = 0; i < 2000; i++) exchange(&state);
  return NULL;
}

/* Half of the children end as a program does, with handlers and buffers, the others at once. */
static void child(int number) {
  alarm(SECONDS);
  uint64_t state = (uint64_t)number + 100;
  for (int i = 0; i < KEPT; i++) {
    unsigned char *object = atomic_exchange(&shared[i], NULL);
    if (object) check(object);
    free(object);
  }
  for (int i = 0; i < 5000; i++) exchange(&state);
  pthread_t thread;
  if (pthread_create(&thread, NULL, allocate_some, (void *)(uintptr_t)(number + 1000)) != 0) _exit(2);
  allocate_some((void *)(uintptr_t)(number + 2000));
  if (pthread_join(thread, NULL) != 0) _exit(3);
  if (number % 2) exit(0);
  _exit(0);
}

static void at_exit(void) {
  free(malloc(1000));
}

int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1) {
    void *object = malloc(100);
    printf("%s\n", object ? "short" : "none");
    free(object);
    return 0;
  }
  atexit(at_exit);
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, allocate, (void *)(i + 1)) != 0) return 1;
  for (int i = 0; i < FORKS; i++) {
    unsigned long before = atomic_load(&turns);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
      perror("fork");
      return 1;
    }
    if (pid == 0) child(i);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
      fprintf(stderr, "child %d ended with %s %d\n", i, WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      return 1;
    }
    while (atomic_load(&turns) < before + 1000) usleep(100);
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%d children ended well\n", FORKS);
  return 0;
}
