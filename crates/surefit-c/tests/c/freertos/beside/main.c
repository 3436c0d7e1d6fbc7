/* One task of FreeRTOS allocates and frees messages, sessions and other tasks, the same ones under
 * every heap (`ci/extra/freertos.sh`). It says how many bytes it had at most, what the heap had left
 * at least, and the most ticks of a timer that a call took. The status is 3 if the heap refused. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "task.h"

#include "../failures.h"

enum { STEPS = 40000, OBJECTS = 512, LONGEST = 256, SHARE = 12 * 1024, STACK_WORDS = 512 };

/* The board's first timer counts down, at 25 MHz. */
static volatile uint32_t *const timer = (volatile uint32_t *)0x40000000;
enum { TIMER_CONTROL, TIMER_VALUE, TIMER_RELOAD };

static struct {
    unsigned char *bytes;
    size_t count;
} objects[OBJECTS];
static size_t live, most;
static uint32_t state = 2463534242u, longest_malloc, longest_free;

static uint32_t number(void) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* What a call took; no interrupt comes between. */
static void longest(uint32_t *most_ticks, uint32_t before) {
    uint32_t ticks = before - timer[TIMER_VALUE];
    if (ticks > *most_ticks) *most_ticks = ticks;
}

static void allocate(unsigned at) {
    /* One of eight is long. */
    size_t count = number() % 8 == 0 ? LONGEST / 2 + number() % (LONGEST / 2) : 16 + number() % 48;
    if (live + count > SHARE) return;
    taskENTER_CRITICAL();
    uint32_t before = timer[TIMER_VALUE];
    objects[at].bytes = pvPortMalloc(count);
    longest(&longest_malloc, before);
    taskEXIT_CRITICAL();
    if (!objects[at].bytes) {
        printf("refused: %zu bytes, %zu of %d live\n", count, live, SHARE);
        exit(3);
    }
    memset(objects[at].bytes, (int)at, count);
    objects[at].count = count;
    live += count;
    if (live > most) most = live;
}

static void release(unsigned at) {
    size_t count = objects[at].count;
    unsigned char mark = (unsigned char)at;
    if (objects[at].bytes[0] != mark || objects[at].bytes[count - 1] != mark) {
        printf("object %u: another byte\n", at);
        exit(1);
    }
    taskENTER_CRITICAL();
    uint32_t before = timer[TIMER_VALUE];
    vPortFree(objects[at].bytes);
    longest(&longest_free, before);
    taskEXIT_CRITICAL();
    objects[at].bytes = NULL;
    live -= count;
}

static void pass(void *argument) {
    (void)argument;
    vTaskSuspend(NULL);
}

static void work(void *argument) {
    TaskHandle_t handle = NULL;
    (void)argument;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned at = number() % OBJECTS;
        if (objects[at].bytes) release(at);
        else allocate(at);
        if (step % 64 == 0 &&
            xTaskCreate(pass, "pass", configMINIMAL_STACK_SIZE, NULL, 2, &handle) != pdPASS) {
            printf("refused: a task, %zu of %d live\n", live, SHARE);
            exit(3);
        }
        if (step % 64 == 32) vTaskDelete(handle);
    }
    printf("%zu live, %zu free at least, malloc %lu ticks, free %lu ticks\n", most,
           xPortGetMinimumEverFreeHeapSize(), (unsigned long)longest_malloc,
           (unsigned long)longest_free);
    exit(0);
}

int main(void) {
    timer[TIMER_RELOAD] = timer[TIMER_VALUE] = 0xffffffff;
    timer[TIMER_CONTROL] = 1;
    if (xTaskCreate(work, "work", STACK_WORDS, NULL, 1, NULL) != pdPASS) {
        printf("refused: the first task\n");
        exit(3);
    }
    vTaskStartScheduler();
    /* The idle task was refused. */
    printf("refused: the scheduler's own task\n");
    return 3;
}
