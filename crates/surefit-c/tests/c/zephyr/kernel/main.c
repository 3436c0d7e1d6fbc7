/* Two threads of Zephyr allocate and free at once in one k_heap, while the main thread checks it,
 * and allocates by k_aligned_alloc in another. Then a thread waits for memory until some is freed.
 * For qemu's RISC-V board, whose status is 0 if nothing failed. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "../../worker.h"

enum { HEAP_BYTES = 64 * 1024, STEPS = 20000, STACK_BYTES = 2048, PRIORITY = 5 };

K_HEAP_DEFINE(heap, HEAP_BYTES);
K_THREAD_STACK_ARRAY_DEFINE(stacks, 2, STACK_BYTES);

struct thread {
    struct k_thread kernels;
    struct worker worker;
    unsigned steps, interrupted;
    volatile bool is_done;
};

static struct thread threads[2];
/* The thread that made the last step, to see how often the other one comes between two. */
static struct thread *volatile last;
static unsigned failures;

static void expect(bool condition, const char *what) {
    if (condition) return;
    failures += 1;
    printk("not so: %s\n", what);
}

/* Ends the emulator: the board's test device takes the status. */
static void end(void) {
    volatile uint32_t *device = (volatile uint32_t *)0x100000;
    *device = failures == 0 ? 0x5555 : 0x13333;
}

void surefit_panicked(void);
void surefit_panicked(void) {
    failures += 1;
    printk("surefit panicked\n");
    end();
    for (;;) {
    }
}

static void *allocate(size_t bytes) {
    return k_heap_alloc(&heap, bytes, K_NO_WAIT);
}

static void *allocate_zeroed(size_t count, size_t bytes) {
    void *object = allocate(count * bytes);
    if (object) memset(object, 0, count * bytes);
    return object;
}

static void release(void *object) {
    k_heap_free(&heap, object);
}

static bool is_whole(struct k_heap *checked) {
    k_spinlock_key_t key = k_spin_lock(&checked->lock);
    bool whole = sys_heap_validate(&checked->heap);
    k_spin_unlock(&checked->lock, key);
    return whole;
}

static void work(void *argument, void *second, void *third) {
    struct thread *thread = argument;
    (void)second;
    (void)third;
    while (thread->steps < STEPS) {
        worker_step(&thread->worker);
        thread->steps += 1;
        thread->interrupted += last != thread;
        last = thread;
    }
    worker_end(&thread->worker);
    thread->is_done = true;
}

static void start(int at, k_thread_entry_t entry) {
    k_thread_create(&threads[at].kernels, stacks[at], STACK_BYTES, entry, &threads[at], NULL, NULL,
                    PRIORITY, 0, K_NO_WAIT);
}

/* An object of the system's heap; the kernel keeps the heap's address in front of it. */
static void aligned(unsigned round) {
    size_t align = sizeof(void *) << round % 6;
    unsigned char *bytes = k_aligned_alloc(align, 100);
    expect(bytes && (uintptr_t)bytes % align == 0, "k_aligned_alloc is aligned");
    if (bytes) memset(bytes, (int)round, 100);
    k_free(bytes);
}

static void workers(void) {
    unsigned rounds = 0;
    for (int at = 0; at < 2; at++) {
        struct worker worker = {.allocate = allocate,
                                .allocate_zeroed = allocate_zeroed,
                                .release = release,
                                .align = sizeof(void *),
                                .state = 2463534242u + (uint32_t)at};
        threads[at].worker = worker;
        start(at, work);
    }
    while (!threads[0].is_done || !threads[1].is_done) {
        k_msleep(1);
        expect(is_whole(&heap), "the heap is whole");
        aligned(rounds++);
    }
    for (int at = 0; at < 2; at++) {
        printk("thread %d: %u steps, %lu allocated, %lu refused, %u times after the other, "
               "%lu faults\n",
               at, threads[at].steps, threads[at].worker.allocated, threads[at].worker.refused,
               threads[at].interrupted, threads[at].worker.faults);
        expect(threads[at].worker.faults == 0, "every byte is kept");
        /* A test in which no thread ever came between would show nothing. */
        expect(threads[at].interrupted >= 10, "each thread is interrupted");
        expect(threads[at].worker.allocated >= STEPS / 8, "most of it is served");
    }
    printk("main: %u checks of the heap, %u allocations by k_aligned_alloc\n", rounds, rounds);
}

static void *volatile waited_for;
static volatile bool has_waited;

static void wait(void *argument, void *second, void *third) {
    (void)argument;
    (void)second;
    (void)third;
    waited_for = k_heap_alloc(&heap, 1000, K_MSEC(1000));
    has_waited = true;
}

/* The heap is full; a thread that waits gets what another one frees. */
static void waiting(void) {
    static void *objects[HEAP_BYTES / 1000];
    size_t count = 0;
    while ((objects[count] = allocate(1000))) count += 1;
    expect(count > HEAP_BYTES / 1000 / 2, "the heap can be filled");
    start(0, wait);
    k_msleep(10);
    expect(!has_waited, "a thread waits for memory");
    while (count > 0) release(objects[--count]);
    k_msleep(10);
    expect(has_waited && waited_for, "a thread gets memory that is freed");
    release(waited_for);
    expect(is_whole(&heap), "the heap is whole at the end");
}

int main(void) {
    workers();
    waiting();
    printk("%u failures\n", failures);
    end();
    return 0;
}
