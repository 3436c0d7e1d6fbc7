/* Threads make the first calls to a plugin's heap some microseconds into a fork. Their heap must stay whole, and the child must be
   able to call it. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 3, PAGES_BYTES = 32 << 20 };

static bool (*work)(size_t bytes);
static long wait_ns;
static atomic_bool starts, ends;

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *call(void *unused) {
    while (!starts) {
    }
    for (long start = now_ns(); now_ns() - start < wait_ns;) {
    }
    do {
        CHECK(work(40000));
    } while (!ends);
    return unused;
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    alarm(60);
    void *plugin = dlopen(arguments[1], RTLD_NOW);
    CHECK(plugin);
    *(void **)&work = dlsym(plugin, "surefit_plugin_work");
    CHECK(work);
    wait_ns = 1000 * atol(arguments[2]);
    /* Pages that a fork has to copy, so that it takes a while. */
    char *pages = mmap(NULL, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    madvise(pages, PAGES_BYTES, MADV_NOHUGEPAGE);
    memset(pages, 1, PAGES_BYTES);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call, NULL) == 0);
    usleep(1000);
    starts = true;
    pid_t child = fork();
    if (child == 0) {
        alarm(5);
        _exit(work(1000) ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    usleep(2000);
    ends = true;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    puts("done");
    return 0;
}
