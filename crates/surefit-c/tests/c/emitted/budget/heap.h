/* The heap of heap_64k.json, in the configuration cf:page=2K,width=24,spacing=1/4.
 *
 * Written by `surefit certify --emit c`. The region suffices for every order of calls within the
 * demand. One free makes at most 2 moves and copies at most 512 bytes.
 *
 * Of the 91,719 bytes that `surefit certify` prints, 2,047 are for a region at any address, and 368 for the
 * control structure in Rust. The bytes here have neither, and 8,888 more for keys. */
#ifndef HEAP_H
#define HEAP_H

#include "surefit.h"

#if SUREFIT_VERSION_MAJOR != 0 || SUREFIT_VERSION_MINOR != 1
#error "another version of surefit may certify other bytes: run surefit certify again"
#endif

/* Bytes of a page: the alignment of the region. */
#define HEAP_PAGE_BYTES 2048
/* Bytes that are enough, and those of the heap's control structure. */
#define HEAP_CERTIFIED_BYTES 98192
#define HEAP_REGION_BYTES (HEAP_CERTIFIED_BYTES + SUREFIT_CONTROL_BYTES)
/* The most moves of one free, and the most bytes that they copy. */
#define HEAP_MOVES_MAX 2
#define HEAP_MOVED_BYTES_MAX 512
/* Bytes of holes that the size-classes share: with them a free moves an object only if they are
 * all in use. */
#define HEAP_SLACK_BYTES 6888

/* What the program has live at most. */
static const surefit_demand heap_demand = {NULL, 0, 1750, 39529, 256, 0, 0, 0, 0, 0};

/* The memory of the heap. */
#ifdef __cplusplus
#define HEAP_ALIGNAS alignas
#define HEAP_STATIC_ASSERT static_assert
#else
#define HEAP_ALIGNAS _Alignas
#define HEAP_STATIC_ASSERT _Static_assert
#endif
HEAP_ALIGNAS(HEAP_PAGE_BYTES) static unsigned char heap_memory[HEAP_REGION_BYTES];
HEAP_STATIC_ASSERT(sizeof heap_memory == HEAP_CERTIFIED_BYTES + 512,
                   "the control structure has another size: run surefit certify again");

/* Bytes of RAM beside the region, for the configuration. Define it before this header as
 * SUREFIT_SMALL_CONFIG_BYTES if the library has no feature `many-classes`. */
#ifndef HEAP_CONFIG_BYTES
#define HEAP_CONFIG_BYTES SUREFIT_CONFIG_BYTES
#endif

/* Makes the heap: once, before anything else. */
static inline surefit_status heap_init(surefit_heap **heap) {
    static unsigned char place[HEAP_CONFIG_BYTES];
    static const surefit_options options = {2048, 3, 4, 0, 4, 16, 0, 0, 0, NULL};
    const surefit_config *config = NULL;
    surefit_status status = surefit_config_build(place, sizeof place, &options, &config);
    if (status != SUREFIT_STATUS_OK) return status;
    /* Links only if the library has the feature slack. */
    return surefit_heap_init_with_slack(heap_memory, sizeof heap_memory, config,
                                        HEAP_SLACK_BYTES, heap);
}

#endif
