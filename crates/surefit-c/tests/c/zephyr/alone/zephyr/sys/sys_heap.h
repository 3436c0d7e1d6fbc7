/* A stand-in of ours for Zephyr's header: what adapters/zephyr.c defines, with the prototypes of
 * Zephyr's own. */
#ifndef ZEPHYR_SYS_HEAP_H
#define ZEPHYR_SYS_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_SYS_HEAP_VALIDATE 1
#define CONFIG_SYS_HEAP_RUNTIME_STATS 1
#define CONFIG_SYS_HEAP_ARRAY_SIZE 2

struct sys_heap {
    struct z_heap *heap;
    void *init_mem;
    size_t init_bytes;
};

struct sys_memory_stats {
    size_t free_bytes;
    size_t allocated_bytes;
    size_t max_allocated_bytes;
};

void sys_heap_init(struct sys_heap *heap, void *mem, size_t bytes);
void *sys_heap_alloc(struct sys_heap *heap, size_t bytes);
void *sys_heap_aligned_alloc(struct sys_heap *heap, size_t align, size_t bytes);
void *sys_heap_noalign_alloc(struct sys_heap *heap, size_t align, size_t bytes);
void sys_heap_free(struct sys_heap *heap, void *mem);
void *sys_heap_realloc(struct sys_heap *heap, void *ptr, size_t bytes);
void *sys_heap_aligned_realloc(struct sys_heap *heap, void *ptr, size_t align, size_t bytes);
size_t sys_heap_usable_size(struct sys_heap *heap, void *mem);
bool sys_heap_validate(struct sys_heap *heap);
int sys_heap_runtime_stats_get(struct sys_heap *heap, struct sys_memory_stats *stats);
int sys_heap_runtime_stats_reset_max(struct sys_heap *heap);
int sys_heap_array_save(struct sys_heap *heap);

#endif /* ZEPHYR_SYS_HEAP_H */
