/* Prints the bytes of stack that each call of a raw heap takes, on a Cortex-M. Fails if one takes
 * more than surefit.h says. */
#include "surefit.h"

#include <stdio.h>
#include <stdlib.h>

enum { REGION_BYTES = 64 * 1024, STACK_WORDS = 4096, CALLS = 7 };
static const uint32_t UNTOUCHED = 0xdeadbeef;

static unsigned char region[REGION_BYTES];
static uint32_t stack[STACK_WORDS];
static surefit_raw *heap;
static void *object;
static uint32_t kind;

static void init(void) { surefit_raw_init(region, sizeof region, kind, &heap); }
static void allocate(void) { object = surefit_raw_malloc(heap, 100); }
static void resize(void) { object = surefit_raw_realloc(heap, object, 5000); }
static void check(void) { surefit_raw_check(heap); }
static void release(void) { surefit_raw_free(heap, object); }
static void align(void) { object = surefit_raw_aligned_alloc(heap, 256, 100); }

static const struct {
    const char *name;
    void (*call)(void);
    /* In bytes. */
    unsigned limit;
} calls[CALLS] = {
    {"init", init, 512},    {"malloc", allocate, 512}, {"realloc", resize, 512},
    {"check", check, 1024}, {"free", release, 512},    {"aligned_alloc", align, 512},
    {"free again", release, 512},
};

void surefit_panicked(void);
void surefit_panicked(void) {
    abort();
}

/* Makes a call on a stack of its own, and counts the words that it wrote. */
static unsigned bytes_of(void (*call)(void)) {
    unsigned untouched = 0;
    for (unsigned at = 0; at < STACK_WORDS; at++) stack[at] = UNTOUCHED;
    __asm__ volatile("mov r4, sp\n"
                     "mov sp, %0\n"
                     "blx %1\n"
                     "mov sp, r4\n"
                     :
                     : "r"(stack + STACK_WORDS), "r"(call)
                     : "r0", "r1", "r2", "r3", "r4", "r12", "lr", "cc", "memory");
    while (untouched < STACK_WORDS && stack[untouched] == UNTOUCHED) untouched++;
    return (STACK_WORDS - untouched) * 4;
}

int main(void) {
    unsigned failures = 0;
    for (kind = 0; kind < 4; kind++) {
        printf("stack of kind %u:", (unsigned)kind);
        for (unsigned at = 0; at < CALLS; at++) {
            unsigned bytes = bytes_of(calls[at].call);
            failures += bytes > calls[at].limit;
            printf(" %s %u", calls[at].name, bytes);
        }
        printf(" bytes\n");
    }
    printf("%u failures\n", failures);
    return failures != 0;
}
