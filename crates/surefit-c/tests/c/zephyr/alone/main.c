/* A program on Zephyr's sys_heap, without Zephyr: objects of every alignment, resized, rewound and
 * freed, with every byte verified; then what a careless caller may do. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zephyr/sys/sys_heap.h>

enum { MEMORY_BYTES = 96 * 1024, OBJECTS = 40, STEPS = 20000 };

int asserts;
static int failures, saved;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures += 1;                                                                         \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
        }                                                                                          \
    } while (0)

static unsigned char memory[MEMORY_BYTES + 64];
static struct sys_heap heap;

static struct {
    unsigned char *bytes;
    size_t count;
    /* As asked for, and whether it holds a pointer's size behind the first byte. */
    size_t align;
    size_t rewind;
    unsigned char mark;
} objects[OBJECTS];

int sys_heap_array_save(struct sys_heap *made) {
    EXPECT(made == &heap);
    saved += 1;
    return 0;
}

void surefit_panicked(void);
void surefit_panicked(void) {
    abort();
}

static uint32_t state = 2463534242u;
static uint32_t number(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

static size_t size(void) {
    return 1 + (number(8) == 0 ? number(3000) : number(200));
}

static void verify(size_t at, size_t count) {
    for (size_t i = 0; i < count; i++) EXPECT(objects[at].bytes[i] == objects[at].mark);
}

/* Notes an object, and fills all that may be used of it. */
static void fill(size_t at, void *bytes, size_t count) {
    objects[at].bytes = bytes;
    objects[at].count = count;
    objects[at].mark = (unsigned char)number(256);
    EXPECT(((uintptr_t)bytes + objects[at].rewind) % objects[at].align == 0);
    EXPECT(sys_heap_usable_size(&heap, bytes) >= count);
    memset(bytes, objects[at].mark, sys_heap_usable_size(&heap, bytes));
}

static void allocate(size_t at) {
    size_t count = size();
    void *bytes;
    objects[at].align = sizeof(void *) << number(6);
    objects[at].rewind = objects[at].align > sizeof(void *) && number(3) == 0 ? sizeof(void *) : 0;
    bytes = sys_heap_aligned_alloc(&heap, objects[at].align | objects[at].rewind, count);
    if (bytes) fill(at, bytes, count);
}

/* A new alignment is asked for, or none; then only that of a pointer is promised. */
static void resize(size_t at) {
    size_t count = size(), least = objects[at].count < count ? objects[at].count : count;
    size_t align = number(2) == 0 ? sizeof(void *) << number(6) : 0;
    void *bytes = align == 0 ? sys_heap_realloc(&heap, objects[at].bytes, count)
                             : sys_heap_aligned_realloc(&heap, objects[at].bytes, align, count);
    if (!bytes) {
        verify(at, objects[at].count);
        return;
    }
    objects[at].bytes = bytes;
    verify(at, least);
    objects[at].align = align == 0 ? sizeof(void *) : align;
    objects[at].rewind = 0;
    fill(at, bytes, count);
}

static void release(size_t at) {
    verify(at, objects[at].count);
    sys_heap_free(&heap, objects[at].bytes);
    objects[at].bytes = NULL;
}

/* Wherever the region begins. */
static void program(size_t misaligned) {
    struct sys_memory_stats first, stats;
    sys_heap_init(&heap, memory + misaligned, MEMORY_BYTES);
    EXPECT(sys_heap_runtime_stats_get(&heap, &first) == 0);
    EXPECT(first.allocated_bytes == 0 && first.max_allocated_bytes == 0);
    EXPECT(first.free_bytes > MEMORY_BYTES / 4 * 3 && first.free_bytes < MEMORY_BYTES);
    for (int step = 0; step < STEPS; step++) {
        size_t at = number(OBJECTS);
        if (!objects[at].bytes)
            allocate(at);
        else if (number(3) == 0)
            resize(at);
        else
            release(at);
        if (step % 64 == 0) EXPECT(sys_heap_validate(&heap));
    }
    for (size_t at = 0; at < OBJECTS; at++)
        if (objects[at].bytes) release(at);
    EXPECT(sys_heap_runtime_stats_get(&heap, &stats) == 0);
    EXPECT(stats.allocated_bytes == 0 && stats.free_bytes == first.free_bytes);
    EXPECT(stats.max_allocated_bytes > 4000);
    EXPECT(sys_heap_runtime_stats_reset_max(&heap) == 0);
    EXPECT(sys_heap_runtime_stats_get(&heap, &stats) == 0 && stats.max_allocated_bytes == 0);
    EXPECT(sys_heap_validate(&heap) && asserts == 0);
}

/* As realloc and free of nothing, sizes of nothing, and more than there is. */
static void edges(void) {
    void *bytes = sys_heap_realloc(&heap, NULL, 100);
    EXPECT(bytes && !sys_heap_realloc(&heap, bytes, 0));
    EXPECT(!sys_heap_alloc(&heap, 0) && !sys_heap_aligned_alloc(&heap, 64, 0));
    EXPECT(!sys_heap_alloc(&heap, MEMORY_BYTES) && !sys_heap_alloc(&heap, SIZE_MAX));
    EXPECT(!sys_heap_aligned_alloc(&heap, 64 | sizeof(void *), SIZE_MAX));
    EXPECT(!sys_heap_aligned_alloc(&heap, 64 | sizeof(void *), 0));
    sys_heap_free(&heap, NULL);
    bytes = sys_heap_noalign_alloc(&heap, 4096, 1);
    EXPECT(bytes && sys_heap_usable_size(&heap, bytes) >= 1);
    EXPECT(!sys_heap_realloc(&heap, bytes, MEMORY_BYTES));
    sys_heap_free(&heap, bytes);
    EXPECT(asserts == 0);
}

static void careless(void) {
    static void *elsewhere[32];
    struct sys_memory_stats stats;
    EXPECT(!sys_heap_aligned_alloc(&heap, 64 | 2, 8) && asserts == 1);
    EXPECT(!sys_heap_aligned_alloc(&heap, 64 | 32 | sizeof(void *), 8) && asserts == 2);
    sys_heap_free(&heap, (void *)((uintptr_t)&elsewhere[16] / 16 * 16));
    EXPECT(asserts == 3 && sys_heap_validate(&heap));
    EXPECT(sys_heap_runtime_stats_get(NULL, &stats) == -EINVAL);
    EXPECT(sys_heap_runtime_stats_get(&heap, NULL) == -EINVAL);
    EXPECT(sys_heap_runtime_stats_reset_max(NULL) == -EINVAL);
}

/* A heap without room is no heap: it serves nothing. */
static void too_small(void) {
    for (size_t bytes = 0; bytes < 64; bytes++) {
        asserts = 0;
        sys_heap_init(&heap, memory + 1, bytes);
        EXPECT(asserts == 1 && !sys_heap_alloc(&heap, 1) && !sys_heap_validate(&heap));
        EXPECT(sys_heap_usable_size(&heap, NULL) == 0 && sys_heap_usable_size(&heap, memory) == 0);
    }
}

int main(void) {
    for (size_t misaligned = 0; misaligned < 4; misaligned++) program(misaligned * 3);
    EXPECT(saved == 4);
    edges();
    careless();
    too_small();
    printf("%d failures\n", failures);
    return failures != 0;
}
