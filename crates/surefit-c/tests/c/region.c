/* malloc and its family over one static region, for a C program of somebody else, which is compiled
 * with -Dmalloc=region_malloc and so on: see ci/extra/c-program.sh. At exit it checks the heap, and
 * prints what the program used; a heap that is not whole ends the program with status 99. */
#include "surefit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *region_malloc(size_t bytes);
void *region_calloc(size_t count, size_t bytes);
void *region_realloc(void *object, size_t bytes);
void region_free(void *object);

static unsigned char region[REGION_BYTES];
static surefit_raw *heap;
/* Bytes of live objects, as surefit_raw_usable_size counts them, now and at most. */
static size_t live, peak;
static unsigned long objects, refused;

static void fail(const char *what) {
    printf("surefit: %s\n", what);
    fflush(stdout);
    _exit(99);
}

static void report(void) {
    if (surefit_raw_check(heap) != SUREFIT_STATUS_OK) fail("the heap is not whole at the end");
    printf("surefit: %lu objects, %lu refused, peak %zu of %zu bytes, %zu bytes live at exit, "
           "check OK\n",
           objects, refused, peak, sizeof region, live);
}

static void start(void) {
    if (heap) return;
    if (surefit_raw_init(region, sizeof region, REGION_KIND, &heap) != SUREFIT_STATUS_OK)
        fail("no heap in the region");
    atexit(report);
}

/* Counts an object that was allocated or resized; `before` bytes of it were counted already. */
static void *counted(void *object, size_t before) {
    if (!object) {
        refused += 1;
        return NULL;
    }
    live += surefit_raw_usable_size(heap, object) - before;
    if (live > peak) peak = live;
    return object;
}

void *region_malloc(size_t bytes) {
    start();
    objects += 1;
    return counted(surefit_raw_malloc(heap, bytes), 0);
}

void *region_calloc(size_t count, size_t bytes) {
    start();
    objects += 1;
    return counted(surefit_raw_calloc(heap, count, bytes), 0);
}

void *region_realloc(void *object, size_t bytes) {
    start();
    objects += object == NULL;
    size_t before = surefit_raw_usable_size(heap, object);
    return counted(surefit_raw_realloc(heap, object, bytes), before);
}

void region_free(void *object) {
    size_t bytes = surefit_raw_usable_size(heap, object);
    if (!object) return;
    if (surefit_raw_free(heap, object) != SUREFIT_STATUS_OK) fail("a free was refused");
    live -= bytes;
}
