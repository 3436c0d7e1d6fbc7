/* Loads a library and calls a function of it in a thread, closes the library, and only then lets the thread end; several times. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

enum { TIMES = 5 };

static sem_t called, closed;
static void *(*function)(size_t);

static void *use_it(void *nothing) {
    (void)nothing;
    for (size_t bytes = 1; bytes < 200000; bytes *= 2)
        CHECK(function(bytes) != NULL);
    sem_post(&called);
    sem_wait(&closed);
    return NULL;
}

int main(int count, char **arguments) {
    CHECK(count == 3 && sem_init(&called, 0, 0) == 0 && sem_init(&closed, 0, 0) == 0);
    void *before = NULL;
    for (int i = 0; i < TIMES; i++) {
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        CHECK(library != NULL);
        function = (void *(*)(size_t))dlsym(library, arguments[2]);
        CHECK(function != NULL);
        /* It is the same one each time, with the same heap. */
        CHECK(before == NULL || before == (void *)function);
        before = (void *)function;
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, use_it, NULL) == 0);
        sem_wait(&called);
        CHECK(dlclose(library) == 0);
        sem_post(&closed);
        pthread_join(thread, NULL);
    }
    puts("done");
    return 0;
}
