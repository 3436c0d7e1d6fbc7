/* A program that may have few addresses, or that wants all of them in memory: the heap has mapped what it needs, and no more. */
#include "check.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { THREADS = 16, STACK = 8 << 20, MOST_KIB = 128 << 10, BYTES = 20 << 20 };

static void *work(void *nothing) {
    (void)nothing;
    for (int i = 0; i < 10; i++) {
        char *object = c_malloc(1 << 20);
        CHECK(object != NULL);
        fill(object, 1 << 20);
        c_free(object);
    }
    return NULL;
}

static void start_threads(void) {
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, STACK) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], &attributes, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* The program sets its own limit after the heap began. */
static void limit_itself(void) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = ((rlim_t)status_kib("VmSize:") << 10) + ((rlim_t)300 << 20);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* What is freed and given back is charged to nobody any more: it is not mapped. */
static void give_back(void) {
    enum { SIZES = 4, TOTAL = 200 << 20 };
    static const size_t sizes[SIZES] = {1000, 30000, 100000, 10 << 20};
    for (int i = 0; i < SIZES; i++) {
        long before = status_kib("VmSize:");
        size_t count = TOTAL / sizes[i];
        char **objects = c_malloc(count * sizeof *objects);
        for (size_t k = 0; k < count; k++) {
            objects[k] = c_malloc(sizes[i]);
            CHECK(objects[k] != NULL);
            memset(objects[k], 1, sizes[i]);
        }
        CHECK(status_kib("VmSize:") > before + (TOTAL >> 11));
        for (size_t k = 0; k < count; k++)
            c_free(objects[k]);
        c_free(objects);
        malloc_trim(0);
        CHECK(status_kib("VmSize:") < before + (16 << 10));
    }
}

static void lock_all(void) {
    long before = status_kib("VmLck:");
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return;
    long locked = status_kib("VmLck:");
    CHECK(locked - before < MOST_KIB);
    /* What the heap maps from now on is in memory before it is touched. */
    char *object = c_malloc(BYTES);
    CHECK(object != NULL && status_kib("VmLck:") >= locked + (BYTES >> 10));
    c_free(object);
    CHECK(munlockall() == 0);
}

int main(int count, char **arguments) {
    void *first = c_malloc(100);
    CHECK(first != NULL && status_kib("VmSize:") < MOST_KIB);
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "itself") == 0)
        limit_itself();
    else if (strcmp(what, "lock") == 0)
        lock_all();
    else if (strcmp(what, "back") == 0)
        give_back();
    start_threads();
    /* What is not there is refused, and what was freed serves again. */
    if (strcmp(what, "lock") != 0 && strcmp(what, "back") != 0)
        CHECK(c_malloc((size_t)4 << 30) == NULL && errno == ENOMEM);
    char *large = c_malloc(BYTES);
    CHECK(large != NULL);
    fill(large, BYTES);
    c_free(large);
    c_free(first);
    puts("done");
    return 0;
}
