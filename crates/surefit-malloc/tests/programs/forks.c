/* A process with busy threads forks; each child frees what it inherited, allocates, and forks again. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

enum { OBJECTS = 500, CHILDREN = 12 };

static int stop;
static char *inherited[OBJECTS];

static void *churn(void *number) {
    unsigned random = (unsigned)(uintptr_t)number;
    void *held[64] = {0};
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        unsigned place = next_number(&random) % 64;
        c_free(held[place]);
        held[place] = c_malloc(next_number(&random) % (place == 0 ? 200000 : 800));
        CHECK(held[place] != NULL);
    }
    for (int i = 0; i < 64; i++)
        c_free(held[i]);
    return NULL;
}

static void *in_child(void *nothing) {
    (void)nothing;
    for (int i = 0; i < 500; i++) {
        size_t bytes = (size_t)i * 13 % 40000;
        char *object = c_malloc(bytes);
        CHECK(object != NULL);
        fill(object, bytes);
        CHECK(is_filled(object, bytes, (uintptr_t)object, bytes));
        c_free(object);
    }
    return NULL;
}

static void child(void) {
    for (int generation = 0; generation < 4; generation++) {
        for (int i = 0; i < OBJECTS; i++) {
            size_t bytes = (size_t)i * 11;
            if (inherited[i] && i % 4 == generation) {
                CHECK(is_filled(inherited[i], bytes, (uintptr_t)inherited[i], bytes));
                c_free(inherited[i]);
            }
        }
        in_child(NULL);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, in_child, NULL) == 0);
        pthread_join(thread, NULL);
        pid_t next = fork();
        CHECK(next >= 0);
        if (next > 0) {
            int status;
            CHECK(waitpid(next, &status, 0) == next && status == 0);
            _exit(0);
        }
    }
    _exit(0);
}

int main(void) {
    pthread_t threads[3];
    for (uintptr_t i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    for (int i = 0; i < OBJECTS; i++) {
        inherited[i] = c_malloc((size_t)i * 11);
        fill(inherited[i], (size_t)i * 11);
    }
    for (int i = 0; i < CHILDREN; i++) {
        pid_t forked = fork();
        CHECK(forked >= 0);
        if (forked == 0)
            child();
        int status;
        CHECK(waitpid(forked, &status, 0) == forked && status == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
