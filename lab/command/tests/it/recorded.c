/* A program to be recorded: its first argument says what it does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each call of the family once. */
static int family(void) {
    void *p = malloc(1001), *q = NULL;
    p = realloc(p, 1002);
    p = reallocarray(p, 17, 59);
    free(p);
    free(calloc(17, 60));
    free(aligned_alloc(64, 1088));
    if (posix_memalign(&q, 4096, 1005) != 0) return 1;
    free(q);
    if (posix_memalign(&q, 24, 1) == 0) return 2;
    free(memalign(32, 1006));
    free(valloc(1007));
    free(pvalloc(1008));
    p = malloc(1009);
    if (malloc_usable_size(p) < 1009) return 3;
    if (realloc(p, 0) != NULL) return 4;
    free(NULL);
    volatile size_t huge = (size_t)-1;
    if (malloc(huge) != NULL || calloc(huge, 2) != NULL || reallocarray(NULL, huge, 2) != NULL) return 5;
    p = malloc(1010);
    if (realloc(p, huge) != NULL) return 6;
    memset(p, 1, 1010);
    return 0; /* the last object lives on */
}

/* A child that frees what it inherited and allocates; its own child does as well. */
static int forks(void) {
    void *inherited = malloc(2001);
    if (fork() == 0) {
        free(inherited);
        for (int i = 0; i < 100; i++) if (malloc(2002) == NULL) _exit(1);
        if (fork() == 0) {
            if (malloc(2003) == NULL) _exit(1);
            _exit(0);
        }
        wait(NULL);
        _exit(0);
    }
    wait(NULL);
    free(inherited);
    return 5;
}

static pthread_barrier_t turn;
static void *last;

/* Two threads take turns; each frees the object of the other. */
static void *turns(void *odd) {
    for (size_t i = 0; i < 2000; i++) {
        if (i % 2 == (size_t)odd) {
            void *mine = malloc(3000 + i);
            free(last);
            last = mine;
        }
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

static int order(void) {
    pthread_t other;
    pthread_barrier_init(&turn, NULL, 2);
    if (pthread_create(&other, NULL, turns, (void *)1) != 0) return 1;
    turns((void *)0);
    pthread_join(other, NULL);
    free(last);
    return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *shared[64];

/* Objects that go through many hands. */
static void *hands(void *seed) {
    unsigned random = 1 + (unsigned)(size_t)seed;
    for (int i = 0; i < 50000; i++) {
        random = random * 1664525u + 1013904223u;
        void *mine = malloc(random >> 22);
        pthread_mutex_lock(&lock);
        void *theirs = shared[random >> 8 & 63];
        shared[random >> 8 & 63] = mine;
        pthread_mutex_unlock(&lock);
        if (random >> 7 & 1) theirs = realloc(theirs, (random >> 23) + 1);
        free(theirs);
    }
    return NULL;
}

static int threads(void) {
    pthread_t all[4];
    for (size_t i = 0; i < 4; i++) if (pthread_create(&all[i], NULL, hands, (void *)i) != 0) return 1;
    for (size_t i = 0; i < 4; i++) pthread_join(all[i], NULL);
    for (size_t i = 0; i < 64; i++) free(shared[i]);
    return 0;
}

static void many(int objects) {
    for (int i = 0; i < objects; i++) free(malloc(4000));
}

/* Leaves a child behind that ends when its input does. */
static int leaves(void) {
    int done[2];
    char byte;
    many(10);
    if (pipe(done) != 0) return 1;
    if (fork() == 0) {
        many(1000);
        if (write(done[1], "", 1) != 1) _exit(1);
        while (read(0, &byte, 1) > 0) {}
        _exit(0);
    }
    return read(done[0], &byte, 1) != 1;
}

/* Callers with names: outer calls inner, which allocates. */
__attribute__((noinline)) void *inner(size_t bytes) {
    void *object = malloc(bytes);
    __asm__ volatile("" : : "r"(object) : "memory");
    return object;
}

__attribute__((noinline)) void *outer(size_t bytes) {
    void *object = inner(bytes);
    __asm__ volatile("" : : "r"(object) : "memory");
    return object;
}

static int callers(void) {
    void *kept[100];
    for (int i = 0; i < 100; i++) kept[i] = outer(6001);
    for (int i = 0; i < 1000; i++) free(inner(6002));
    kept[0] = realloc(kept[0], 700000);
    for (int i = 0; i < 100; i++) free(kept[i]);
    return 0;
}

/* Objects that a thread leaves to the destructors of its keys: half of the keys are older than any thread's first object. */
static pthread_key_t keys[6];

static void destroy(void *object) { free(object); }

static void *leave(void *nothing) {
    for (int i = 0; i < 6; i++) pthread_setspecific(keys[i], malloc(4000));
    return nothing;
}

static int with_keys(void) {
    pthread_t thread;
    for (int i = 0; i < 6; i++) pthread_key_create(&keys[i], destroy);
    for (int i = 0; i < 5; i++) {
        if (pthread_create(&thread, NULL, leave, NULL) != 0) return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}

/* Takes every descriptor that it may have. */
static int take_descriptors(void) {
    struct rlimit limit = {100, 100};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
    while (open("/dev/null", O_RDONLY) >= 0) {}
    return errno != EMFILE;
}

/* Closes all but the first three descriptors, as a program does that goes into the background. */
static void close_all(void) {
    for (int i = 3; i < 70000; i++) close(i);
}

/* Files of its own, of which none may change. */
static int own_files(void) {
    int file;
    while ((file = open("own", O_RDWR | O_CREAT, 0600)) >= 0 && file < 1100) {}
    many(50000);
    return lseek(open("own", O_RDONLY), 0, SEEK_END) > 0;
}

/* Whether our aligned_alloc and the C library's answer alike, errors too. */
static int aligned(void) {
#ifndef STATIC
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *(*theirs)(size_t, size_t) = dlsym(library, "aligned_alloc");
    const size_t asked[][2] = {{24, 1}, {0, 8}, {3, 100}, {64, (size_t)-1}, {64, 64}, {(size_t)-1, 8}};
    if (theirs == NULL || theirs == aligned_alloc) return 1;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        errno = 0;
        const void *our = aligned_alloc(asked[i][0], asked[i][1]);
        const int our_error = errno;
        errno = 0;
        const void *their = theirs(asked[i][0], asked[i][1]);
        if ((our == NULL) != (their == NULL) || our_error != errno) return 2;
    }
    errno = 0;
    if (pvalloc((size_t)-1) != NULL || errno != ENOMEM) return 3;
#endif
    return 0;
}

/* A child that calls from where its parent called. */
static int fork_between(void) {
    pid_t child = 1;
    for (int i = 0; i < 10; i++) {
        if (inner(6003) == NULL) return 1;
        if (i == 4) child = fork();
    }
    return child == 0 ? 0 : wait(NULL) != child;
}

static void *(*volatile pointer)(size_t) = malloc;

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "family") == 0) return family();
    if (strcmp(what, "forks") == 0) return forks();
    if (strcmp(what, "order") == 0) return order();
    if (strcmp(what, "threads") == 0) return threads();
    if (strcmp(what, "callers") == 0) return callers();
    if (strcmp(what, "keys") == 0) return with_keys();
    if (strcmp(what, "aligned") == 0) return aligned();
    if (strcmp(what, "large") == 0) return free(malloc(1200u << 20)), malloc(1200u << 20) == NULL;
    if (strcmp(what, "more") == 0) return many(300000), 0;
    if (strcmp(what, "descriptors") == 0) return take_descriptors() || (many(50000), 0);
    if (strcmp(what, "closes") == 0) return close_all(), many(50000), 0;
    if (strcmp(what, "closes-and-takes") == 0) return close_all(), take_descriptors() || (many(50000), 0);
    if (strcmp(what, "closes-and-opens") == 0) return close_all(), own_files();
    if (strcmp(what, "fork-between") == 0) return fork_between();
    if (strcmp(what, "many") == 0) return many(50000), 0;
    if (strcmp(what, "pointer") == 0) return free(pointer(4000)), 0;
    if (strcmp(what, "killed") == 0) return many(1000), raise(SIGKILL);
    if (strcmp(what, "leaves") == 0) return leaves();
    if (strcmp(what, "child-frees") == 0) {
        void *inherited = malloc(2001);
        if (fork() == 0) free(inherited), _exit(0);
        return wait(NULL), 0;
    }
    if (strcmp(what, "waits") == 0) {
        char byte;
        many(1000);
        while (read(0, &byte, 1) > 0) {}
        many(1000);
        return 0;
    }
    return 9;
}
