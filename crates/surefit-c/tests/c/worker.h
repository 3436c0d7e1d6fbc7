/* A worker allocates and frees objects of a kernel's heap, and verifies every byte of them. */
#ifndef WORKER_H
#define WORKER_H

#include <stddef.h>
#include <stdint.h>

enum { WORKER_OBJECTS = 24 };

struct worker {
    /* The heap's functions, and the alignment that they promise. */
    void *(*allocate)(size_t bytes);
    void *(*allocate_zeroed)(size_t count, size_t bytes);
    void (*release)(void *object);
    size_t align;
    /* Of the numbers that look random; not 0. */
    uint32_t state;
    struct {
        unsigned char *bytes;
        size_t count;
        unsigned char mark;
    } objects[WORKER_OBJECTS];
    unsigned long allocated, refused;
    /* Bytes that were not as written, and pointers that were not aligned. */
    unsigned long faults;
};

/* Allocates an object and fills it, or verifies one and frees it. */
void worker_step(struct worker *worker);

/* Verifies and frees all objects. */
void worker_end(struct worker *worker);

#endif /* WORKER_H */
