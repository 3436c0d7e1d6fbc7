/* Threads, one after another, whose first call of the heap is a free in the destructor of a key that was made after the heap's own. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 6000 };

static pthread_key_t key;

static void destroy(void *object) {
    c_free(object);
}

static void *late(void *object) {
    CHECK(pthread_setspecific(key, object) == 0);
    return NULL;
}

int main(void) {
    c_free(c_malloc(1));
    CHECK(pthread_key_create(&key, destroy) == 0);
    long after_some = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, late, c_malloc(1000)) == 0);
        pthread_join(thread, NULL);
        if (i == 100)
            after_some = status_kib("VmRSS");
    }
    long after_all = status_kib("VmRSS");
    if (after_all > after_some + 512) {
        fprintf(stderr, "resident: %ld KiB after some threads, %ld KiB after all\n", after_some, after_all);
        return 1;
    }
    puts("done");
    return 0;
}
