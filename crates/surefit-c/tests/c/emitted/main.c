/* A program on a heap that `surefit certify --emit c` wrote: it fills the demand in many orders, and nothing is refused. */
#include "heap.h"

#include <stdio.h>

enum { OBJECTS = 8192 };
static surefit_key keys[OBJECTS];
static uint32_t bytes_of[OBJECTS];

static uint32_t state = 2463534242u;
static uint32_t number(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

/* The sizes of a demand: those of its peaks, or such that they fill its budget of page-blocks. */
static size_t sizes(int round) {
    size_t count = 0;
    for (size_t i = 0; i < heap_demand.peak_count; i++)
        for (uint32_t n = 0; n < heap_demand.peaks[i].objects; n++)
            bytes_of[count++] = (uint32_t)heap_demand.peaks[i].bytes;
    if (heap_demand.peaks == NULL) {
        /* A page-block is at most a quarter longer than its request, and 16 bytes at least. */
        uint64_t left = heap_demand.block_bytes;
        uint32_t largest = round % 2 == 0 ? 16 : (uint32_t)heap_demand.largest;
        while (count < heap_demand.blocks && left >= largest + largest / 4 + 16) {
            bytes_of[count] = round < 2 ? largest : 1 + number(largest);
            left -= bytes_of[count] + bytes_of[count] / 4 + 16;
            count += 1;
        }
    }
    return count;
}

int main(void) {
    surefit_heap *heap = NULL;
    size_t served = 0;
    if (heap_init(&heap) != SUREFIT_STATUS_OK) return 1;
    for (int round = 0; round < 20; round++) {
        size_t count = sizes(round);
        if (count == 0 || count > OBJECTS) return 2;
        for (size_t i = 0; i < count; i++, served++)
            if (surefit_alloc(heap, bytes_of[i], 1, &keys[i]) != SUREFIT_STATUS_OK) return 3;
        for (size_t i = 0; i < count; i += 1 + (size_t)round % 3) {
            if (surefit_free(heap, keys[i]) != SUREFIT_STATUS_OK) return 4;
            if (surefit_alloc(heap, bytes_of[i], 1, &keys[i]) != SUREFIT_STATUS_OK) return 5;
        }
        if (surefit_check(heap, NULL) != SUREFIT_STATUS_OK) return 6;
        for (size_t i = 0; i < count; i++)
            if (surefit_free(heap, keys[i]) != SUREFIT_STATUS_OK) return 7;
    }
    printf("%d failures\n", served < 1000);
    return 0;
}
