#include "worker.h"

#include <string.h>

static uint32_t number(struct worker *worker, uint32_t below) {
    worker->state ^= worker->state << 13;
    worker->state ^= worker->state >> 17;
    worker->state ^= worker->state << 5;
    return worker->state % below;
}

/* Counts the bytes of an object that are not `mark`. */
static void verify(struct worker *worker, const unsigned char *bytes, size_t count,
                   unsigned char mark) {
    for (size_t i = 0; i < count; i++) worker->faults += bytes[i] != mark;
}

static void allocate(struct worker *worker, size_t at) {
    size_t count = 1 + (number(worker, 8) == 0 ? number(worker, 4000) : number(worker, 300));
    unsigned char *bytes;
    if (number(worker, 4) == 0) {
        bytes = worker->allocate_zeroed(count, 1);
        if (bytes) verify(worker, bytes, count, 0);
    } else {
        bytes = worker->allocate(count);
    }
    if (!bytes) {
        worker->refused += 1;
        return;
    }
    worker->allocated += 1;
    worker->faults += (uintptr_t)bytes % worker->align != 0;
    worker->objects[at].bytes = bytes;
    worker->objects[at].count = count;
    worker->objects[at].mark = (unsigned char)number(worker, 256);
    memset(bytes, worker->objects[at].mark, count);
}

static void release(struct worker *worker, size_t at) {
    verify(worker, worker->objects[at].bytes, worker->objects[at].count, worker->objects[at].mark);
    worker->release(worker->objects[at].bytes);
    worker->objects[at].bytes = NULL;
}

void worker_step(struct worker *worker) {
    size_t at = number(worker, WORKER_OBJECTS);
    if (worker->objects[at].bytes)
        release(worker, at);
    else
        allocate(worker, at);
}

void worker_end(struct worker *worker) {
    for (size_t at = 0; at < WORKER_OBJECTS; at++)
        if (worker->objects[at].bytes) release(worker, at);
}
