/* Two tasks of FreeRTOS allocate and free at once. A third checks the heap, and makes and deletes
 * tasks, whose stacks are of the same heap. The status is 0 if nothing failed. */
#include <stdbool.h>

#include "../../worker.h"
#include "FreeRTOS.h"
#include "freertos.h"
#include "task.h"

#include "../failures.h"

enum { STEPS = 20000, STACK_WORDS = 512 };
enum { WORKER_PRIORITY = 1, JUDGE_PRIORITY = 2, PASS_PRIORITY = 3 };

struct task {
    struct worker worker;
    unsigned long steps, interrupted;
    volatile bool is_done;
};

static struct task tasks[2];
/* The task that made the last step, to see how often the other one comes between two. */
static struct task *volatile last;

static void work(void *argument) {
    struct task *task = argument;
    while (task->steps < STEPS) {
        worker_step(&task->worker);
        task->steps += 1;
        task->interrupted += last != task;
        last = task;
    }
    worker_end(&task->worker);
    task->is_done = true;
    vTaskDelete(NULL);
}

/* Runs as soon as it is made, until the judge deletes it. */
static void pass(void *argument) {
    unsigned long *passed = argument;
    *passed += 1;
    vTaskSuspend(NULL);
}

static unsigned failures(void) {
    HeapStats_t stats;
    unsigned long faults = tasks[0].worker.faults + tasks[1].worker.faults;
    unsigned long allocated = tasks[0].worker.allocated + tasks[1].worker.allocated;
    bool is_whole = surefit_freertos_check();
    vPortGetHeapStats(&stats);
    for (int at = 0; at < 2; at++)
        printf("task %d: %lu steps, %lu allocated, %lu refused, %lu times after the other, "
               "%lu faults\n",
               at, tasks[at].steps, tasks[at].worker.allocated, tasks[at].worker.refused,
               tasks[at].interrupted, tasks[at].worker.faults);
    printf("heap: %zu bytes free, %zu at least, largest %zu, %zu allocations, %zu frees, "
           "check %s\n",
           stats.xAvailableHeapSpaceInBytes, stats.xMinimumEverFreeBytesRemaining,
           stats.xSizeOfLargestFreeBlockInBytes, stats.xNumberOfSuccessfulAllocations,
           stats.xNumberOfSuccessfulFrees, is_whole ? "OK" : "FAILED");
    /* A test in which no task ever came between would show nothing. */
    return (faults != 0) + !is_whole + (tasks[0].interrupted < 100) + (tasks[1].interrupted < 100) +
           (allocated < STEPS / 4) + (stats.xNumberOfSuccessfulAllocations <= allocated);
}

static void judge(void *argument) {
    static unsigned long passed;
    unsigned long made = 0, refused = 0, checks = 0;
    unsigned broken = 0;
    TaskHandle_t handle;
    (void)argument;
    while (!tasks[0].is_done || !tasks[1].is_done) {
        vTaskDelay(3);
        broken += !surefit_freertos_check();
        checks += 1;
        if (xTaskCreate(pass, "pass", configMINIMAL_STACK_SIZE, &passed, PASS_PRIORITY,
                        &handle) == pdPASS) {
            made += 1;
            vTaskDelete(handle);
        } else {
            refused += 1;
        }
    }
    printf("judge: %lu checks, %u failed, %lu tasks made, %lu refused, %lu passed\n", checks,
           broken, made, refused, passed);
    broken += failures() + (made != passed) + (made < checks / 4);
    printf("%u failures\n", broken);
    exit(broken != 0);
}

int main(void) {
    for (int at = 0; at < 2; at++) {
        struct worker worker = {.allocate = pvPortMalloc,
                                .allocate_zeroed = pvPortCalloc,
                                .release = vPortFree,
                                .align = portBYTE_ALIGNMENT,
                                .state = 2463534242u + (uint32_t)at};
        tasks[at].worker = worker;
        configASSERT(xTaskCreate(work, at ? "two" : "one", STACK_WORDS, &tasks[at], WORKER_PRIORITY,
                                 NULL) == pdPASS);
    }
    configASSERT(xTaskCreate(judge, "judge", 2 * STACK_WORDS, NULL, JUDGE_PRIORITY, NULL) ==
                 pdPASS);
    vTaskStartScheduler();
    printf("the scheduler ended\n");
    return 1;
}
