/* The calls of the system by which the heap has its memory, of which some fail: the FAULT_AT-th, or with FAULT_AFTER that one and all
 * later ones. The program checks what it gets for NULL, and nothing else may go wrong. Prints how many calls there were. */
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static int calls;

static int fails(void) {
    const char *at = getenv("FAULT_AT");
    int number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED), wanted = at ? atoi(at) : 0;
    if (wanted && (number == wanted || (number > wanted && getenv("FAULT_AFTER")))) {
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

/* The library is bound to these, because the program comes first. */
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return fails() ? MAP_FAILED : (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

int mprotect(void *at, size_t bytes, int protection) {
    return fails() ? -1 : (int)syscall(SYS_mprotect, at, bytes, protection);
}

int madvise(void *at, size_t bytes, int advice) {
    return fails() ? -1 : (int)syscall(SYS_madvise, at, bytes, advice);
}

enum { OBJECTS = 400 };

static void *work(void *number) {
    static const size_t sizes[] = {10, 100, 3000, 20000, 100000, 5000000};
    unsigned random = (unsigned)(uintptr_t)number;
    char *objects[OBJECTS] = {0};
    size_t bytes[OBJECTS] = {0};
    for (int round = 0; round < 4000; round++) {
        unsigned place = next_number(&random) % OBJECTS;
        size_t wanted = sizes[next_number(&random) % (round % 50 ? 5 : 6)];
        if (objects[place])
            CHECK(is_filled(objects[place], 1, (uintptr_t)objects[place], bytes[place]));
        if (round % 3 == 0) {
            char *object = c_realloc(objects[place], wanted);
            if (object == NULL)
                continue;
            objects[place] = object;
        } else {
            c_free(objects[place]);
            objects[place] = round % 3 == 1 ? c_malloc(wanted) : c_calloc(1, wanted);
        }
        bytes[place] = wanted;
        if (objects[place])
            fill(objects[place], wanted < 200 ? wanted : 200), *objects[place] = (char)(((uintptr_t)objects[place] >> 4) ^ wanted);
    }
    for (int i = 0; i < OBJECTS; i++)
        c_free(objects[i]);
    return NULL;
}

int main(void) {
    pthread_t thread;
    work((void *)1);
    /* It fails if the C library gets no memory for it. */
    if (pthread_create(&thread, NULL, work, (void *)2) == 0)
        pthread_join(thread, NULL);
    char text[32];
    int length = snprintf(text, sizeof text, "%d\n", calls);
    write(1, text, (size_t)length);
    _exit(0);
}
