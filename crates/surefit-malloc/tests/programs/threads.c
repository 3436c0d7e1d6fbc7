/* Threads that free each other's objects, threads one after another, and destructors that allocate.
 * Argument: how many threads come one after another. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, SHARED = 2000, ROUNDS = 60000 };

struct object {
    size_t bytes;
    char rest[];
};

static struct object *_Atomic shared[SHARED];

static struct object *new_object(size_t bytes) {
    struct object *object = c_malloc(sizeof *object + bytes);
    CHECK(object != NULL);
    object->bytes = bytes;
    fill(object->rest, bytes);
    return object;
}

static void end_object(struct object *object) {
    if (object) {
        CHECK(is_filled(object->rest, object->bytes, (uintptr_t)object->rest, object->bytes));
        c_free(object);
    }
}

static void *exchange(void *number) {
    unsigned random = (unsigned)(uintptr_t)number * 77 + 1;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned place = next_number(&random) % SHARED;
        size_t bytes = next_number(&random) % (round % 64 ? 500 : 70000);
        end_object(__atomic_exchange_n(&shared[place], new_object(bytes), __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static pthread_key_t keys[3];
static int destroyed;

/* Allocates and frees in every round of destructors that the C library grants. */
static void destroy(void *value) {
    uintptr_t round = *(uintptr_t *)value;
    c_free(value);
    for (int i = 0; i < 100; i++)
        end_object(new_object((size_t)i * 31));
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
    if (round < 9) {
        uintptr_t *next = c_malloc(sizeof *next);
        *next = round + 1;
        pthread_setspecific(keys[round % 3], next);
    }
}

static void *with_destructors(void *nothing) {
    (void)nothing;
    for (int i = 0; i < 3; i++) {
        uintptr_t *value = c_malloc(sizeof *value);
        *value = 0;
        pthread_setspecific(keys[i], value);
    }
    return NULL;
}

/* Allocates, frees, and leaves objects to others, who free them later; more than there is place for is freed by the next thread. */
static void *short_lived(void *number) {
    unsigned random = (unsigned)(uintptr_t)number * 31 + 7;
    for (int i = 0; i < 20; i++) {
        unsigned place = next_number(&random) % SHARED;
        end_object(new_object(next_number(&random) % 300));
        end_object(__atomic_exchange_n(&shared[place], new_object(next_number(&random) % 300), __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static void run(int count, void *(*work)(void *), uintptr_t first) {
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(first + (uintptr_t)i)) == 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
    long sequence = count > 1 ? atol(arguments[1]) : 2000;
    run(THREADS, exchange, 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_key_create(&keys[i], destroy) == 0);
    for (int i = 0; i < 50; i++)
        run(THREADS, with_destructors, 0);
    CHECK(destroyed >= 50 * THREADS * 3);
    for (int i = 0; i < SHARED; i++)
        end_object(__atomic_exchange_n(&shared[i], NULL, __ATOMIC_ACQ_REL));
    long after_some = 0;
    for (long i = 0; i < sequence; i++) {
        run(1, short_lived, (uintptr_t)i);
        if (i == sequence / 4)
            after_some = status_kib("VmRSS");
    }
    long after_all = status_kib("VmRSS");
    if (after_all > after_some + 512) {
        fprintf(stderr, "resident: %ld KiB after a quarter of the threads, %ld KiB after all\n", after_some, after_all);
        return 1;
    }
    puts("done");
    return 0;
}
