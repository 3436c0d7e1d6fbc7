/* Frees objects of many sizes twice, each free by this thread or by another one that is there from the beginning. Says on standard error
 * when each second free is done, and at the end how many there were. */
#include "check.h"

#include <pthread.h>
#include <semaphore.h>

enum { SIZES = 16, WAYS = 4 };

static sem_t wanted, done;
static void *to_free;

static void *other(void *nothing) {
    (void)nothing;
    c_free(c_malloc(10));
    sem_post(&done);
    for (;;) {
        sem_wait(&wanted);
        if (to_free == NULL)
            return NULL;
        c_free(to_free);
        sem_post(&done);
    }
}

static void free_by(int another, void *object) {
    if (!another) {
        c_free(object);
        return;
    }
    to_free = object;
    sem_post(&wanted);
    sem_wait(&done);
}

int main(void) {
    static const size_t sizes[SIZES] = {16,   24,    100,   500,   1000,  3000,  8000,   16000,
                                        30000, 32000, 33000, 40000, 65536, 100000, 150000, 200000};
    CHECK(sem_init(&wanted, 0, 0) == 0 && sem_init(&done, 0, 0) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    sem_wait(&done);
    int count = 0;
    for (int size = 0; size < SIZES; size++) {
        for (int way = 0; way < WAYS; way++) {
            void *object = c_malloc(sizes[size]);
            CHECK(object != NULL);
            free_by(way & 1, object);
            free_by(way >> 1, object);
            char line[64];
            int length = snprintf(line, sizeof line, "%zu bytes, way %d\n", sizes[size], way);
            CHECK(write(2, line, (size_t)length) == length);
            count++;
        }
    }
    to_free = NULL;
    sem_post(&wanted);
    pthread_join(thread, NULL);
    printf("%d\n", count);
    return 0;
}
