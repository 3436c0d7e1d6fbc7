/* FreeRTOS's heap by a raw heap of surefit: compile this file in place of the kernel's
 * portable/MemMang/heap_4.c, and link libsurefit_c.a.
 *
 * The heap lies in ucHeap, of configTOTAL_HEAP_SIZE bytes; with configAPPLICATION_ALLOCATED_HEAP
 * the program defines ucHeap. configSUREFIT_KIND in FreeRTOSConfig.h chooses the kind of heap; it
 * is TLSF if nothing is said, which allocates and frees in O(1), and needs some 3.5 KiB for itself.
 * Each call suspends the scheduler, as heap_4.c does: do not allocate or free in an interrupt.
 *
 * Departures from heap_4.c:
 * - Free bytes are the capacity without the usable bytes of live objects. The capacity is the
 *   largest object that the empty heap serves. The headers of objects are not counted.
 * - vPortGetHeapStats finds the size of the largest free block by a binary search: some 20
 *   allocations. The number of free blocks and the size of the smallest one are not known: both 0.
 * - A free that the heap refuses ends in configASSERT. TLSF finds every double free until the bytes
 *   are part of another object; surefit.h says what the other kinds find.
 * - configENABLE_HEAP_PROTECTOR changes nothing: surefit_freertos_check verifies the heap. */

#include <string.h>

/* The kernel's sources call each other without the wrappers for memory protection. */
#define MPU_WRAPPERS_INCLUDED_FROM_API_FILE
#include "FreeRTOS.h"
#include "task.h"
#undef MPU_WRAPPERS_INCLUDED_FROM_API_FILE

#include "freertos.h"
#include "surefit.h"

#if (configSUPPORT_DYNAMIC_ALLOCATION == 0)
#error "without configSUPPORT_DYNAMIC_ALLOCATION there is no heap"
#endif

#ifndef configSUREFIT_KIND
#define configSUREFIT_KIND SUREFIT_RAW_TLSF
#endif

#ifndef configHEAP_CLEAR_MEMORY_ON_FREE
#define configHEAP_CLEAR_MEMORY_ON_FREE 0
#endif

#if (configAPPLICATION_ALLOCATED_HEAP == 1)
extern uint8_t ucHeap[configTOTAL_HEAP_SIZE];
#else
PRIVILEGED_DATA static uint8_t ucHeap[configTOTAL_HEAP_SIZE];
#endif

/* NULL until the first allocation. */
PRIVILEGED_DATA static surefit_raw *heap;

/* Bytes that the empty heap serves, bytes of live objects now and at most, and calls. */
PRIVILEGED_DATA static struct {
    size_t capacity;
    size_t used;
    size_t used_max;
    size_t allocations;
    size_t frees;
} counters;

/* Many small objects may have more usable bytes together than the largest one has. */
static size_t beside(size_t used) {
    return used < counters.capacity ? counters.capacity - used : 0;
}

/* The largest object that the heap can serve now, as far as a binary search finds it. */
static size_t largest(void) {
    size_t fits = 0, too_large = configTOTAL_HEAP_SIZE;
    while (too_large - fits > 1) {
        size_t bytes = fits + (too_large - fits) / 2;
        void *object = surefit_raw_aligned_alloc(heap, portBYTE_ALIGNMENT, bytes);
        if (object) {
            (void)surefit_raw_free(heap, object);
            fits = bytes;
        } else {
            too_large = bytes;
        }
    }
    return fits;
}

static void start(void) {
    surefit_status status = surefit_raw_init(ucHeap, sizeof ucHeap, configSUREFIT_KIND, &heap);
    configASSERT(status == SUREFIT_STATUS_OK);
    if (status != SUREFIT_STATUS_OK) return;
    counters.capacity = largest();
}

static void count_allocation(size_t usable) {
    counters.allocations += 1;
    counters.used += usable;
    if (counters.used > counters.used_max) counters.used_max = counters.used;
}

void *pvPortMalloc(size_t xWantedSize) {
    void *object = NULL;
    vTaskSuspendAll();
    if (!heap) start();
    if (xWantedSize > 0) object = surefit_raw_aligned_alloc(heap, portBYTE_ALIGNMENT, xWantedSize);
    if (object) count_allocation(surefit_raw_usable_size(heap, object));
    traceMALLOC(object, surefit_raw_usable_size(heap, object));
    (void)xTaskResumeAll();
#if (configUSE_MALLOC_FAILED_HOOK == 1)
    if (!object) vApplicationMallocFailedHook();
#endif
    return object;
}

void *pvPortCalloc(size_t xNum, size_t xSize) {
    void *object = NULL;
    if (xSize == 0 || xNum <= SIZE_MAX / xSize) object = pvPortMalloc(xNum * xSize);
    if (object) memset(object, 0, xNum * xSize);
    return object;
}

void vPortFree(void *pv) {
    surefit_status status;
    size_t usable;
    if (!pv) return;
    vTaskSuspendAll();
    /* 0 for what the heap would refuse: nothing is cleared then. */
    usable = surefit_raw_usable_size(heap, pv);
#if (configHEAP_CLEAR_MEMORY_ON_FREE == 1)
    if (usable > 0) memset(pv, 0, usable);
#endif
    status = surefit_raw_free(heap, pv);
    if (status == SUREFIT_STATUS_OK) {
        counters.used -= usable;
        counters.frees += 1;
    }
    traceFREE(pv, usable);
    (void)xTaskResumeAll();
    configASSERT(status == SUREFIT_STATUS_OK);
}

size_t xPortGetFreeHeapSize(void) {
    return beside(counters.used);
}

size_t xPortGetMinimumEverFreeHeapSize(void) {
    return beside(counters.used_max);
}

void xPortResetHeapMinimumEverFreeHeapSize(void) {
    counters.used_max = counters.used;
}

void vPortGetHeapStats(HeapStats_t *pxHeapStats) {
    memset(pxHeapStats, 0, sizeof *pxHeapStats);
    vTaskSuspendAll();
    if (heap) pxHeapStats->xSizeOfLargestFreeBlockInBytes = largest();
    pxHeapStats->xAvailableHeapSpaceInBytes = beside(counters.used);
    pxHeapStats->xMinimumEverFreeBytesRemaining = beside(counters.used_max);
    pxHeapStats->xNumberOfSuccessfulAllocations = counters.allocations;
    pxHeapStats->xNumberOfSuccessfulFrees = counters.frees;
    (void)xTaskResumeAll();
}

/* The heap starts with its first allocation: nothing is to do. */
void vPortInitialiseBlocks(void) {
}

/* For a program that starts the scheduler once more: all objects are gone. */
void vPortHeapResetState(void) {
    heap = NULL;
    memset(&counters, 0, sizeof counters);
}

bool surefit_freertos_check(void) {
    bool is_whole;
    vTaskSuspendAll();
    is_whole = !heap || surefit_raw_check(heap) == SUREFIT_STATUS_OK;
    (void)xTaskResumeAll();
    return is_whole;
}
