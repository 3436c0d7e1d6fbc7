/* A program on a heap that `surefit certify --emit c` wrote: it fills the demand in many orders, and nothing is refused. */
#include "heap.h"

#include <stdio.h>

enum { OBJECTS = 8192, LARGEST = 256 };

/* An object, and its page-block in the budget: of 0 bytes if it is a peak's. */
struct object {
    surefit_key key;
    size_t bytes, align;
    uint64_t block_bytes;
};
static struct object objects[OBJECTS];
static size_t count;

/* The page-blocks of requests that the budget serves, without alignment and at its strictest. */
static uint64_t block_bytes_of[2][LARGEST + 1];

/* What is live of the budget. */
static uint64_t blocks, block_bytes;

static uint32_t state = 2463534242u;
static uint32_t number(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

/* The configuration of heap_init once more. */
static const surefit_config *configuration(void) {
    static unsigned char place[SUREFIT_CONFIG_BYTES];
    static const surefit_options options = {HEAP_PAGE_BYTES, 3, 4, 0, 4, 16, 0, 0, 0, NULL};
    const surefit_config *config = NULL;
    if (HEAP_PAGE_BYTES == 1024) return surefit_config_tiny();
    (void)surefit_config_build(place, sizeof place, &options, &config);
    return config;
}

/* Whether the library certifies for the demand in the header what the header has: a control structure is smaller than a page. */
static int is_certified(surefit_certificate *certificate) {
    return surefit_certify(configuration(), &heap_demand, certificate) == SUREFIT_STATUS_OK &&
           certificate->aligned_bytes <= sizeof heap_memory &&
           certificate->aligned_bytes > HEAP_CERTIFIED_BYTES &&
           certificate->moves_max == HEAP_MOVES_MAX &&
           certificate->moved_bytes_max == HEAP_MOVED_BYTES_MAX;
}

/* Asks an empty heap for the page-block of each request. */
static int measure(surefit_heap *heap) {
    for (size_t aligned = 0; aligned < 2; aligned++)
        for (size_t bytes = 1; bytes <= heap_demand.largest; bytes++) {
            surefit_key key;
            surefit_stats stats;
            size_t align = aligned ? heap_demand.align : 0;
            if (surefit_alloc(heap, bytes, align, &key) != SUREFIT_STATUS_OK) return 0;
            if (surefit_stats_get(heap, &stats) != SUREFIT_STATUS_OK) return 0;
            if (surefit_free(heap, key) != SUREFIT_STATUS_OK || stats.live_blocks != 1) return 0;
            block_bytes_of[aligned][bytes] = stats.block_bytes;
        }
    return 1;
}

static int allocate(surefit_heap *heap, size_t bytes, size_t align, uint64_t block) {
    struct object *object = &objects[count++];
    object->bytes = bytes;
    object->align = align;
    object->block_bytes = block;
    return surefit_alloc(heap, bytes, align, &object->key) == SUREFIT_STATUS_OK;
}

static int fill_peaks(surefit_heap *heap) {
    for (size_t i = 0; i < heap_demand.peak_count; i++)
        for (uint32_t n = 0; n < heap_demand.peaks[i].objects; n++)
            if (!allocate(heap, heap_demand.peaks[i].bytes, heap_demand.peaks[i].align, 0)) return 0;
    return 1;
}

/* Requests until none fits into the budget: small ones, large ones, or of all sizes. */
static int fill_budget(surefit_heap *heap, int round) {
    uint32_t largest = (uint32_t)heap_demand.largest;
    for (int misses = 0; misses < 50 && heap_demand.blocks > 0;) {
        size_t aligned = number(2);
        size_t bytes = round % 4 == 0 ? 1 : round % 4 == 1 ? largest : 1 + number(largest);
        uint64_t block = block_bytes_of[aligned][bytes];
        if (blocks == heap_demand.blocks || block > heap_demand.block_bytes - block_bytes) {
            misses++;
            continue;
        }
        blocks += 1;
        block_bytes += block;
        if (!allocate(heap, bytes, aligned ? heap_demand.align : 0, block)) return 0;
    }
    return 1;
}

/* Resizes an object of the budget, if that has room for its old page-block and the new one. */
static int resize(surefit_heap *heap, struct object *object) {
    size_t aligned = object->align != 0;
    size_t bytes = 1 + number((uint32_t)heap_demand.largest);
    uint64_t block = block_bytes_of[aligned][bytes];
    if (blocks == heap_demand.blocks || block > heap_demand.block_bytes - block_bytes) return 1;
    if (surefit_resize(heap, &object->key, bytes, object->align) != SUREFIT_STATUS_OK) return 0;
    block_bytes = block_bytes - object->block_bytes + block;
    object->bytes = bytes;
    object->block_bytes = block;
    return 1;
}

/* The line at which something was refused, or 0. */
static int drive(surefit_heap *heap) {
    size_t served = 0, resized = 0;
    if (!measure(heap)) return __LINE__;
    for (int round = 0; round < 20; round++) {
        count = 0;
        blocks = block_bytes = 0;
        if (round % 2 == 0 && !fill_peaks(heap)) return __LINE__;
        if (!fill_budget(heap, round)) return __LINE__;
        if (round % 2 != 0 && !fill_peaks(heap)) return __LINE__;
        served += count;
        for (size_t i = 0; i < count; i += 1 + (size_t)round % 3) {
            struct object *object = &objects[i];
            if (surefit_free(heap, object->key) != SUREFIT_STATUS_OK) return __LINE__;
            if (surefit_alloc(heap, object->bytes, object->align, &object->key) != SUREFIT_STATUS_OK)
                return __LINE__;
        }
        /* Without some objects of the budget there is room for resizes. */
        for (size_t i = count; i-- > 0 && block_bytes > heap_demand.block_bytes / 2;) {
            if (objects[i].block_bytes == 0) continue;
            if (surefit_free(heap, objects[i].key) != SUREFIT_STATUS_OK) return __LINE__;
            blocks -= 1;
            block_bytes -= objects[i].block_bytes;
            objects[i] = objects[--count];
        }
        for (size_t i = 0; i < count; i++) {
            if (objects[i].block_bytes == 0) continue;
            if (!resize(heap, &objects[i])) return __LINE__;
            resized += 1;
        }
        if (surefit_check(heap, NULL) != SUREFIT_STATUS_OK) return __LINE__;
        for (size_t i = 0; i < count; i++)
            if (surefit_free(heap, objects[i].key) != SUREFIT_STATUS_OK) return __LINE__;
    }
    if (served < 1000 || (heap_demand.blocks > 0 && resized < 200)) return __LINE__;
    return 0;
}

#ifdef HEAP_SLACK_BYTES
#define SLACK_BYTES HEAP_SLACK_BYTES
#else
#define SLACK_BYTES 0
#endif

/* As heap_init makes it, and with no byte more than the library certifies. */
int main(void) {
    surefit_certificate certificate;
    surefit_heap *heap = NULL;
    int failed;
    if (!is_certified(&certificate) || heap_demand.largest > LARGEST) return 1;
    if (heap_init(&heap) != SUREFIT_STATUS_OK) return 2;
    if ((failed = drive(heap)) != 0) {
        printf("line %d\n", failed);
        return 3;
    }
    if (surefit_heap_init(heap_memory, certificate.aligned_bytes, configuration(), &heap) != SUREFIT_STATUS_OK)
        return 4;
    if ((failed = drive(heap)) != 0) {
        printf("line %d, without spare bytes\n", failed);
        return 5;
    }
    /* The header's heap has the slack of the certified bytes, if they have any. */
    size_t slack = 1;
    if (surefit_slack_bytes(configuration(), &heap_demand, certificate.aligned_bytes, &slack) != SUREFIT_STATUS_OK)
        return 6;
    if (slack != SLACK_BYTES) return 7;
    if (surefit_heap_init_with_slack(heap_memory, certificate.aligned_bytes, configuration(), slack, &heap) != SUREFIT_STATUS_OK)
        return 8;
    if ((failed = drive(heap)) != 0) {
        printf("line %d, with slack\n", failed);
        return 9;
    }
    printf("0 failures\n");
    return 0;
}
