/* The heap of heap_mixed.toml, in the configuration cf:page=1K,width=16,spacing=1/4,k=1.
 *
 * Written by `surefit certify --emit c`. The region suffices for every order of calls within the
 * demand. One free makes at most 1 move and copies at most 256 bytes.
 *
 * Of the 37,543 bytes that `surefit certify` prints, 1,023 are for a region at any address, and 304 for the
 * control structure in Rust. The bytes here have neither, and 904 more for keys. */
#ifndef HEAP_H
#define HEAP_H

#include "surefit.h"

#if SUREFIT_VERSION_MAJOR != 0 || SUREFIT_VERSION_MINOR != 1
#error "another version of surefit may certify other bytes: run surefit certify again"
#endif

/* Bytes of a page: the alignment of the region. */
#define HEAP_PAGE_BYTES 1024
/* Bytes that are enough, and those of the heap's control structure. */
#define HEAP_CERTIFIED_BYTES 37120
#define HEAP_REGION_BYTES (HEAP_CERTIFIED_BYTES + SUREFIT_CONTROL_BYTES)
/* The most moves of one free, and the most bytes that they copy. */
#define HEAP_MOVES_MAX 1
#define HEAP_MOVED_BYTES_MAX 256

/* What the program has live at most. */
static const surefit_peak heap_peaks[] = {{200, 64, 60}, {700, 0, 6}};
static const surefit_demand heap_demand = {heap_peaks, 2, 63, 2010, 100, 0, 0, 16, 0, 0};

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

/* Makes the heap: once, before anything else. */
static inline surefit_status heap_init(surefit_heap **heap) {
    surefit_has_pieces(); /* links only if the library has the feature pieces */
    return surefit_heap_init(heap_memory, sizeof heap_memory, surefit_config_tiny(), heap);
}

#endif
