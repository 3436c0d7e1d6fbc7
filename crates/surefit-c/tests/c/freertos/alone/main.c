/* Two workers take turns on FreeRTOS's heap, without the kernel; then what the adapter promises
 * beyond its objects: refusals, its counters, and a start from nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../worker.h"
#include "FreeRTOS.h"
#include "freertos.h"
#include "surefit.h"
#include "task.h"

enum { STEPS = 20000 };

static int failures, suspended, asserts, hooks;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures += 1;                                                                         \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
        }                                                                                          \
    } while (0)

void vTaskSuspendAll(void) {
    suspended += 1;
}

BaseType_t xTaskResumeAll(void) {
    suspended -= 1;
    return 0;
}

void traced(void *object, size_t bytes) {
    EXPECT(suspended > 0);
    EXPECT(object || bytes == 0);
}

void assert_failed(const char *file, int line) {
    (void)file;
    (void)line;
    asserts += 1;
}

void vApplicationMallocFailedHook(void) {
    EXPECT(suspended == 0);
    hooks += 1;
}

void surefit_panicked(void);
void surefit_panicked(void) {
    abort();
}

/* Two workers whose demand is now and then more than the heap has. */
static void workers(void) {
    struct worker worker = {.allocate = pvPortMalloc,
                            .allocate_zeroed = pvPortCalloc,
                            .release = vPortFree,
                            .align = portBYTE_ALIGNMENT,
                            .state = 2463534242u};
    static struct worker both[2];
    HeapStats_t stats;
    size_t capacity;
    vPortFree(pvPortMalloc(1));
    capacity = xPortGetFreeHeapSize();
    EXPECT(capacity > configTOTAL_HEAP_SIZE / 4 * 3 && capacity < configTOTAL_HEAP_SIZE);
    both[0] = worker;
    both[1] = worker;
    both[1].state = 88675123u;
    for (int step = 0; step < STEPS; step++) {
        worker_step(&both[step % 2]);
        if (step % 64 == 0) EXPECT(surefit_freertos_check());
    }
    worker_end(&both[0]);
    worker_end(&both[1]);
    EXPECT(both[0].faults == 0 && both[1].faults == 0);
    EXPECT(both[0].allocated > STEPS / 8 && both[1].allocated > STEPS / 8);
    EXPECT(xPortGetFreeHeapSize() == capacity);
    vPortGetHeapStats(&stats);
    EXPECT(stats.xAvailableHeapSpaceInBytes == capacity);
    EXPECT(stats.xSizeOfLargestFreeBlockInBytes > 0);
    EXPECT(stats.xMinimumEverFreeBytesRemaining == xPortGetMinimumEverFreeHeapSize());
    EXPECT(stats.xMinimumEverFreeBytesRemaining < capacity);
    EXPECT(stats.xNumberOfSuccessfulAllocations == 1 + both[0].allocated + both[1].allocated);
    EXPECT(stats.xNumberOfSuccessfulFrees == stats.xNumberOfSuccessfulAllocations);
    xPortResetHeapMinimumEverFreeHeapSize();
    EXPECT(xPortGetMinimumEverFreeHeapSize() == capacity);
}

/* More than there is, nothing at all, and products that overflow: a hook each, and no object. */
static void refusals(void) {
    int before = hooks;
    EXPECT(!pvPortMalloc(0) && !pvPortMalloc(configTOTAL_HEAP_SIZE) && !pvPortMalloc(SIZE_MAX));
    EXPECT(hooks == before + 3);
    EXPECT(!pvPortCalloc(SIZE_MAX / 2, 3) && !pvPortCalloc(SIZE_MAX, SIZE_MAX));
    EXPECT(hooks == before + 3);
    vPortFree(NULL);
    EXPECT(asserts == 0);
}

/* A free of no object is found; it changes nothing. */
static void foreign_free(void) {
    static uint64_t elsewhere[16];
    size_t free_bytes = xPortGetFreeHeapSize();
    vPortFree(&elsewhere[8]);
    EXPECT(asserts == 1);
    EXPECT(xPortGetFreeHeapSize() == free_bytes && surefit_freertos_check());
    asserts = 0;
}

/* TLSF and SEGREGATED find a double free also of what was merged with a free neighbour. */
static void double_free(void) {
#if defined(configSUREFIT_KIND)
    /* These find it for large objects only. */
    if (configSUREFIT_KIND == SUREFIT_RAW_DIRECT || configSUREFIT_KIND == SUREFIT_RAW_TINY) return;
#endif
    size_t free_bytes = xPortGetFreeHeapSize();
    void *first = pvPortMalloc(100), *second = pvPortMalloc(100), *last = pvPortMalloc(100);
    vPortFree(first);
    vPortFree(second);
    vPortFree(second);
    EXPECT(asserts == 1 && surefit_freertos_check());
    vPortFree(last);
    vPortFree(last);
    EXPECT(asserts == 2 && surefit_freertos_check());
    EXPECT(xPortGetFreeHeapSize() == free_bytes);
    asserts = 0;
}

/* Until nothing is left; then the counters say that so much is in use. */
static void exhaustion(void) {
    static void *objects[configTOTAL_HEAP_SIZE / 512];
    size_t count = 0, capacity = xPortGetFreeHeapSize();
    HeapStats_t stats;
    void *largest;
    while (count < sizeof objects / sizeof *objects && (objects[count] = pvPortMalloc(512)))
        count += 1;
    EXPECT(count >= capacity / 512 / 4 * 3);
    EXPECT(xPortGetFreeHeapSize() <= capacity - 512 * count);
    vPortGetHeapStats(&stats);
    EXPECT(stats.xSizeOfLargestFreeBlockInBytes <= stats.xAvailableHeapSpaceInBytes);
    while (count > 2) vPortFree(objects[--count]);
    vPortGetHeapStats(&stats);
    largest = pvPortMalloc(stats.xSizeOfLargestFreeBlockInBytes);
    EXPECT(largest && stats.xSizeOfLargestFreeBlockInBytes > capacity / 2);
    vPortFree(largest);
    while (count > 0) vPortFree(objects[--count]);
    EXPECT(xPortGetFreeHeapSize() == capacity && surefit_freertos_check());
}

/* As before a second start of the scheduler: objects that were live are gone. */
static void from_nothing(void) {
    HeapStats_t stats;
    void *former = pvPortMalloc(1000);
    EXPECT(former);
    vPortHeapResetState();
    EXPECT(xPortGetFreeHeapSize() == 0 && xPortGetMinimumEverFreeHeapSize() == 0);
    vPortGetHeapStats(&stats);
    EXPECT(stats.xSizeOfLargestFreeBlockInBytes == 0 && stats.xNumberOfSuccessfulAllocations == 0);
    EXPECT(surefit_freertos_check());
    vPortInitialiseBlocks();
}

int main(void) {
    for (int start = 0; start < 2; start++) {
        workers();
        refusals();
        foreign_free();
        double_free();
        exhaustion();
        from_nothing();
    }
    EXPECT(suspended == 0);
    printf("%d failures\n", failures);
    return failures != 0;
}
