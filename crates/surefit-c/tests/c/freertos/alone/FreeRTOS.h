/* A stand-in of ours for FreeRTOS's headers: what adapters/freertos.c uses of them, for programs
 * without the kernel. There is one thread; alone.c counts how deep the scheduler is suspended. */
#ifndef FREERTOS_H
#define FREERTOS_H

#include <stddef.h>
#include <stdint.h>

#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configUSE_MALLOC_FAILED_HOOK 1
#define configHEAP_CLEAR_MEMORY_ON_FREE 1
#define configTOTAL_HEAP_SIZE ((size_t)(64 * 1024))
#define portBYTE_ALIGNMENT 8
#define PRIVILEGED_DATA

void assert_failed(const char *file, int line);
#define configASSERT(condition) ((condition) ? (void)0 : assert_failed(__FILE__, __LINE__))

/* Both are called while the scheduler is suspended. */
void traced(void *object, size_t bytes);
#define traceMALLOC(object, bytes) traced(object, bytes)
#define traceFREE(object, bytes) traced(object, bytes)

typedef long BaseType_t;

typedef struct xHeapStats {
    size_t xAvailableHeapSpaceInBytes;
    size_t xSizeOfLargestFreeBlockInBytes;
    size_t xSizeOfSmallestFreeBlockInBytes;
    size_t xNumberOfFreeBlocks;
    size_t xMinimumEverFreeBytesRemaining;
    size_t xNumberOfSuccessfulAllocations;
    size_t xNumberOfSuccessfulFrees;
} HeapStats_t;

void *pvPortMalloc(size_t xWantedSize);
void *pvPortCalloc(size_t xNum, size_t xSize);
void vPortFree(void *pv);
void vPortInitialiseBlocks(void);
void vPortHeapResetState(void);
void vPortGetHeapStats(HeapStats_t *pxHeapStats);
size_t xPortGetFreeHeapSize(void);
size_t xPortGetMinimumEverFreeHeapSize(void);
void xPortResetHeapMinimumEverFreeHeapSize(void);
void vApplicationMallocFailedHook(void);

#endif /* FREERTOS_H */
