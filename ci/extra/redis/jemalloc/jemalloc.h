/* What Redis and Valkey find as <jemalloc/jemalloc.h> when they are built for libsurefit_malloc.so: what they ask of the jemalloc that
 * they bring along, made of malloc's family and of surefit_malloc.h. With it they defragment: `activedefrag yes`.
 *   make MALLOC=libc CFLAGS="-DUSE_JEMALLOC -I… -I…" LDFLAGS="-L… -lsurefit_malloc"
 * A defragmentation asks about every object. What it moves, it allocates anew: our heap has no cache that would have to be avoided. */
#ifndef SUREFIT_AS_JEMALLOC_H
#define SUREFIT_AS_JEMALLOC_H

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "surefit_malloc.h"

/* The interface, not the library: Redis takes its defragmentation for these versions with a hint. */
#define JEMALLOC_VERSION_MAJOR 5
#define JEMALLOC_VERSION_MINOR 2
#define JEMALLOC_VERSION_BUGFIX 1
#define JEMALLOC_FRAG_HINT
#define MALLOCX_TCACHE_NONE 0

#define je_malloc(size) (malloc)(size)
#define je_calloc(count, size) (calloc)(count, size)
#define je_realloc(object, size) (realloc)(object, size)
#define je_free(object) (free)(object)
#define je_mallocx(size, flags) (malloc)(size)
#define je_dallocx(object, flags) (free)(object)
#define je_malloc_usable_size(object) malloc_usable_size(object)
/* The size that a request would get is not asked in advance: 0 is no object's size, so that Redis calls realloc. */
#define je_nallocx(size, flags) ((size_t)0)

/* Whether an object should be moved. */
static inline int je_get_defrag_hint(void *object) { return surefit_defrag_hint(object); }

/* The statistics as they were when they were last refreshed: each time costs a walk over the heap's pages. */
static inline struct mallinfo2 *surefit_statistics(void) {
    static struct mallinfo2 last;
    return &last;
}

/* The bytes of a report. */
static inline size_t surefit_reported(const char *name) {
    const struct mallinfo2 *last = surefit_statistics();
    size_t resident = last->arena + last->hblkhd;
    if (!strcmp(name, "stats.resident")) return resident;
    if (!strcmp(name, "stats.active")) return resident - last->keepcost;
    if (!strcmp(name, "stats.allocated")) return last->uordblks + last->hblkhd;
    return 4096; /* arenas.page */
}

/* Ten times a second Redis asks for the statistics of now. Where more than an eighth of the memory has been free for a second, it goes
 * back: an idle heap returns nothing by itself. */
static inline void surefit_tick(void) {
    static int ticks;
    struct mallinfo2 *last = surefit_statistics();
    *last = mallinfo2();
    int is_too_much = last->keepcost > (last->arena + last->hblkhd) / 8;
    ticks = is_too_much ? ticks + 1 : 0;
    if (ticks == 10) {
        malloc_trim(0);
        ticks = 0;
    }
}

/* The names that Redis reads at each tick, and the one with which it gives free memory back. */
static inline int je_mallctl(const char *name, void *old, size_t *bytes, void *new_value, size_t new_bytes) {
    (void)new_bytes;
    if (!strcmp(name, "epoch")) surefit_tick();
    if (!strcmp(name, "epoch") || !strcmp(name, "background_thread")) return 0;
    if (!strcmp(name, "thread.tcache.flush")) return old ? EPERM : 0; /* nothing is there to read */
    if (!strncmp(name, "arena.", 6)) {
        malloc_trim(0);
        return 0;
    }
    int is_bytes = !strncmp(name, "stats.", 6) || !strcmp(name, "arenas.page");
    if (is_bytes && old && *bytes == sizeof(size_t) && !new_value) {
        size_t value = surefit_reported(name);
        memcpy(old, &value, sizeof value);
        return 0;
    }
    if (!strcmp(name, "arenas.narenas") && old && *bytes == sizeof(unsigned)) {
        unsigned one = 1;
        memcpy(old, &one, sizeof one);
        return 0;
    }
    return ENOENT;
}

static inline void je_malloc_stats_print(void (*put)(void *, const char *), void *to, const char *options) {
    (void)options;
    char text[160];
    *surefit_statistics() = mallinfo2();
    snprintf(text, sizeof text, "surefit-malloc: %zu bytes allocated, %zu active, %zu resident\n", surefit_reported("stats.allocated"),
             surefit_reported("stats.active"), surefit_reported("stats.resident"));
    put(to, text);
}

#endif
