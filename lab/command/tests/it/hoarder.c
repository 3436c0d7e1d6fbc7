/* A malloc that gives nothing back: each power of two has a list of free blocks, and new blocks are cut from larger ones
   that are free, or from a chunk of the kernel. Memory freed before a measurement is so handed out again during it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define HEADER 64 /* before each block; the block's logarithm is in the word before the object */
#define CHUNK ((size_t)1 << 22)

static void *lists[64];
static char *next, *end;
static int lock;

/* Takes the largest free block as the next chunk, if it is large enough. */
static int reuse(size_t bytes) {
    for (size_t log = 63; ((size_t)1 << log) >= bytes && ((size_t)1 << log) >= CHUNK; log--) {
        if (lists[log]) {
            next = lists[log];
            memcpy(&lists[log], next, sizeof(void *));
            end = next + ((size_t)1 << log);
            return 1;
        }
    }
    return 0;
}

static char *fresh(size_t bytes) {
    if ((size_t)(end - next) < bytes && !reuse(bytes)) {
        size_t chunk = bytes > CHUNK ? bytes : CHUNK;
        next = mmap(0, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (next == MAP_FAILED) { next = end = 0; return 0; }
        end = next + chunk;
    }
    char *block = next;
    next += bytes;
    return block;
}

void *malloc(size_t size) {
    size_t log = 6;
    while (((size_t)1 << log) < size) log++;
    while (__sync_lock_test_and_set(&lock, 1)) {}
    char *object = lists[log];
    if (object) {
        memcpy(&lists[log], object, sizeof(void *));
    } else {
        char *block = fresh(HEADER + ((size_t)1 << log));
        object = block ? block + HEADER : 0;
        if (object) memcpy(object - sizeof log, &log, sizeof log);
    }
    __sync_lock_release(&lock);
    return object;
}

void free(void *object) {
    if (!object) return;
    size_t log;
    memcpy(&log, (char *)object - sizeof log, sizeof log);
    while (__sync_lock_test_and_set(&lock, 1)) {}
    memcpy(object, &lists[log], sizeof(void *));
    lists[log] = object;
    __sync_lock_release(&lock);
}

void *calloc(size_t count, size_t size) {
    void *object = malloc(count * size);
    return object ? memset(object, 0, count * size) : 0;
}

void *realloc(void *object, size_t size) {
    if (!object) return malloc(size);
    size_t log;
    memcpy(&log, (char *)object - sizeof log, sizeof log);
    if (size <= ((size_t)1 << log)) return object;
    void *moved = malloc(size);
    if (!moved) return 0;
    memcpy(moved, object, (size_t)1 << log);
    free(object);
    return moved;
}

/* No test asks for more alignment than malloc has. */
int posix_memalign(void **object, size_t align, size_t size) {
    (void)align, (void)size;
    *object = 0;
    return ENOMEM;
}
