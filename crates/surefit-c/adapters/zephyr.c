/* Zephyr's sys_heap by a raw heap of surefit: compile this file in place of heap.c, heap_stats.c
 * and heap_validate.c of Zephyr's folder lib/heap, and link libsurefit_c.a. Whatever stands on
 * sys_heap then uses it: k_heap, k_malloc, the C library's malloc.
 *
 *   | struct z_heap | region of the raw heap … |
 *
 * There is no lock here, as there is none in heap.c: k_heap calls these functions under its
 * k_spinlock, and other callers bring their own. SUREFIT_ZEPHYR_KIND chooses the kind of heap; it
 * is TLSF if nothing is said, which allocates and frees in O(1).
 *
 * Departures from heap.c:
 * - A region that is too small for the kind's tables ends in __ASSERT, and serves nothing. TLSF
 *   needs some 3.5 KiB. DIRECT needs 20 KiB, and 5 KiB of stack to begin: heaps that are static
 *   begin on the stack of interrupts (CONFIG_ISR_STACK_SIZE).
 * - A rewind in the alignment must be the size of a pointer, as in k_aligned_alloc. Such an object
 *   costs its alignment once more. A realloc of it, or of one that is to be aligned more strictly
 *   than two pointers, does not shrink.
 * - Free bytes are the capacity without the usable bytes of live objects. The capacity is the
 *   largest object that the empty heap serves. The headers of objects are not counted.
 * - Listeners, the statistics of threads and sys_heap_print_info are not offered. */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <zephyr/sys/__assert.h>
#include <zephyr/sys/sys_heap.h>

#include "surefit.h"

#ifndef SUREFIT_ZEPHYR_KIND
#define SUREFIT_ZEPHYR_KIND SUREFIT_RAW_TLSF
#endif

/* Every object begins at a multiple of this; a rewound pointer never is one. */
#define GRAIN (2 * sizeof(void *))

/* In front of the region. All but the first are in bytes. */
struct z_heap {
    surefit_raw *raw;
    /* The largest object of the empty heap. */
    size_t capacity;
    /* Of live objects, now and at most. */
    size_t used;
    size_t used_max;
};

/* The object of a pointer. In front of a rewound pointer is the address of its object. */
static void *object_of(void *mem) {
    return (uintptr_t)mem % GRAIN == 0 ? mem : ((void **)mem)[-1];
}

static void count(struct z_heap *control, size_t before, size_t after) {
    control->used = control->used - before + after;
    if (control->used > control->used_max) control->used_max = control->used;
}

static void *allocate(struct sys_heap *heap, size_t align, size_t bytes) {
    struct z_heap *control = heap->heap;
    void *object = NULL;
    if (!control || bytes == 0) return NULL;
    object = surefit_raw_aligned_alloc(control->raw, align > GRAIN ? align : GRAIN, bytes);
    if (object) count(control, 0, surefit_raw_usable_size(control->raw, object));
    return object;
}

/* An object so that `align` is kept a pointer's size behind its first byte. */
static void *allocate_rewound(struct sys_heap *heap, size_t align, size_t bytes) {
    unsigned char *object = NULL;
    void **rewound;
    if (bytes > 0 && bytes <= SIZE_MAX - align) object = allocate(heap, align, align + bytes);
    if (!object) return NULL;
    rewound = (void **)(void *)(object + align - sizeof(void *));
    rewound[-1] = object;
    return rewound;
}

/* The largest object that the heap can serve now, as far as a binary search finds it. */
static size_t largest(surefit_raw *raw, size_t bytes) {
    size_t fits = 0, too_large = bytes;
    while (too_large - fits > 1) {
        size_t middle = fits + (too_large - fits) / 2;
        void *object = surefit_raw_malloc(raw, middle);
        if (object) {
            (void)surefit_raw_free(raw, object);
            fits = middle;
        } else {
            too_large = middle;
        }
    }
    return fits;
}

void sys_heap_init(struct sys_heap *heap, void *mem, size_t bytes) {
    size_t before = (0 - (uintptr_t)mem) % GRAIN + sizeof(struct z_heap);
    struct z_heap *control = (void *)((unsigned char *)mem + before - sizeof(struct z_heap));
    surefit_raw *raw = NULL;
    heap->heap = NULL;
    if (bytes > before)
        (void)surefit_raw_init(control + 1, bytes - before, SUREFIT_ZEPHYR_KIND, &raw);
    __ASSERT(raw, "heap size is too small");
    if (!raw) return;
    control->raw = raw;
    control->capacity = largest(raw, bytes);
    control->used = 0;
    control->used_max = 0;
    heap->heap = control;
#if defined(CONFIG_SYS_HEAP_ARRAY_SIZE) && CONFIG_SYS_HEAP_ARRAY_SIZE > 0
    (void)sys_heap_array_save(heap);
#endif
}

void *sys_heap_alloc(struct sys_heap *heap, size_t bytes) {
    return allocate(heap, 0, bytes);
}

void *sys_heap_noalign_alloc(struct sys_heap *heap, size_t align, size_t bytes) {
    (void)align;
    return allocate(heap, 0, bytes);
}

void *sys_heap_aligned_alloc(struct sys_heap *heap, size_t align, size_t bytes) {
    size_t rewind = align & (0 - align);
    size_t power = align - rewind;
    if (power == 0) return allocate(heap, align, bytes);
    __ASSERT(rewind == sizeof(void *), "the rewind must be the size of a pointer");
    __ASSERT((power & (power - 1)) == 0, "align must be a power of 2");
    if (rewind != sizeof(void *) || (power & (power - 1)) != 0) return NULL;
    return allocate_rewound(heap, power, bytes);
}

void sys_heap_free(struct sys_heap *heap, void *mem) {
    struct z_heap *control = heap->heap;
    size_t usable;
    void *object;
    surefit_status status;
    if (!mem || !control) return;
    object = object_of(mem);
    usable = surefit_raw_usable_size(control->raw, object);
    status = surefit_raw_free(control->raw, object);
    __ASSERT(status == SUREFIT_STATUS_OK, "unexpected heap state (double-free?) for memory at %p",
             mem);
    if (status == SUREFIT_STATUS_OK) count(control, usable, 0);
}

size_t sys_heap_usable_size(struct sys_heap *heap, void *mem) {
    struct z_heap *control = heap->heap;
    unsigned char *object;
    size_t usable, before;
    if (!mem || !control) return 0;
    object = object_of(mem);
    usable = surefit_raw_usable_size(control->raw, object);
    before = (size_t)((unsigned char *)mem - object);
    return usable < before ? 0 : usable - before;
}

/* By the raw heap, which keeps an alignment of GRAIN for GRAIN bytes and more. */
static void *resize(struct z_heap *control, void *object, size_t bytes) {
    size_t before = surefit_raw_usable_size(control->raw, object);
    object = surefit_raw_realloc(control->raw, object, bytes > GRAIN ? bytes : GRAIN);
    if (object) count(control, before, surefit_raw_usable_size(control->raw, object));
    return object;
}

/* As it is if that is enough; otherwise by a copy. */
static void *resize_aligned(struct sys_heap *heap, void *mem, size_t align, size_t bytes) {
    size_t usable = sys_heap_usable_size(heap, mem);
    bool is_aligned = align == 0 || (uintptr_t)mem % align == 0;
    void *copy;
    if (is_aligned && bytes <= usable) return mem;
    copy = sys_heap_aligned_alloc(heap, align, bytes);
    if (!copy) return NULL;
    memcpy(copy, mem, usable < bytes ? usable : bytes);
    sys_heap_free(heap, mem);
    return copy;
}

void *sys_heap_aligned_realloc(struct sys_heap *heap, void *ptr, size_t align, size_t bytes) {
    if (!ptr) return sys_heap_aligned_alloc(heap, align, bytes);
    if (bytes == 0) {
        sys_heap_free(heap, ptr);
        return NULL;
    }
    __ASSERT((align & (align - 1)) == 0, "align must be a power of 2");
    if (align <= GRAIN && object_of(ptr) == ptr) return resize(heap->heap, ptr, bytes);
    return resize_aligned(heap, ptr, align, bytes);
}

/* A macro in older releases of Zephyr. */
#ifndef sys_heap_realloc
void *sys_heap_realloc(struct sys_heap *heap, void *ptr, size_t bytes) {
    return sys_heap_aligned_realloc(heap, ptr, 0, bytes);
}
#endif

#ifdef CONFIG_SYS_HEAP_VALIDATE
bool sys_heap_validate(struct sys_heap *heap) {
    return heap->heap && surefit_raw_check(heap->heap->raw) == SUREFIT_STATUS_OK;
}
#endif

#ifdef CONFIG_SYS_HEAP_RUNTIME_STATS
int sys_heap_runtime_stats_get(struct sys_heap *heap, struct sys_memory_stats *stats) {
    struct z_heap *control = heap ? heap->heap : NULL;
    if (!control || !stats) return -EINVAL;
    /* Many small objects may have more usable bytes together than the largest one has. */
    stats->free_bytes = control->used < control->capacity ? control->capacity - control->used : 0;
    stats->allocated_bytes = control->used;
    stats->max_allocated_bytes = control->used_max;
    return 0;
}

int sys_heap_runtime_stats_reset_max(struct sys_heap *heap) {
    if (!heap || !heap->heap) return -EINVAL;
    heap->heap->used_max = heap->heap->used;
    return 0;
}
#endif
