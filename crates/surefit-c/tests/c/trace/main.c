/* The hook of adapters/trace.c: the bytes of each kind of call are those that its format says. With
 * an argument, the bytes go to standard output. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "trace.h"

/* adapters/trace.c is compiled with its name. */
unsigned task(void);

static unsigned task_number;
static unsigned char bytes[256];
static size_t count;

unsigned task(void) {
    return task_number;
}

void surefit_trace_put(unsigned char byte) {
    if (count < sizeof bytes) {
        bytes[count] = byte;
    }
    count++;
}

/* An object that is no memory: only its address matters. */
static const void *at(uintptr_t offset) {
    return (const void *)(uintptr_t)(0x20000000U + offset);
}

static void calls(void) {
    surefit_trace_malloc(NULL, 1);
    surefit_trace_free(NULL);
    surefit_trace_begin();
    surefit_trace_malloc(at(0), 40);
    surefit_trace_calloc(at(0x7e), 5, 25);
    task_number = 3;
    surefit_trace_aligned(at(0x1000), 64, 1000);
    surefit_trace_realloc(0x20000000U, at(0x4000), 70000);
    surefit_trace_realloc(0x20004000U, NULL, 70001);
    task_number = 40;
    surefit_trace_free(at(0x7e));
    surefit_trace_realloc(0, at(8), 0);
    surefit_trace_realloc(0x20000008U, NULL, 0);
}

/* Each frame: flag, number, operation and thread, addresses and sizes, check sequence, flag. */
static const unsigned char expected[] = {
    0x7e, 0x00, 0x0f, 0xb0, 0xf7, 0x7e, /* begin */
    0x7e, 0x01, 0x00, 0x00, 0x28, 0x2f, 0x4d, 0x7e, /* malloc of 40 at 0 */
    0x7e, 0x02, 0x01, 0x7d, 0x5e, 0x7d, 0x5d, 0xc2, 0x5d, 0x7e, /* calloc of 5 * 25 at 0x7e */
    0x7e, 0x03, 0x1a, 0x06, 0x80, 0x20, 0xe8, 0x07, 0x8b, 0x09, 0x7e, /* aligned to 64, 1000, by task 3 */
    0x7e, 0x04, 0x1b, 0x00, 0x80, 0x80, 0x01, 0xf0, 0xa2, 0x04, 0x05, 0xb7, 0x7e, /* realloc from 0 to 0x4000, 70000 */
    0x7e, 0x05, 0xfc, 0x09, 0x7d, 0x5e, 0xff, 0xf6, 0x7e, /* free of 0x7e, by task 40 */
    0x7e, 0x06, 0xf8, 0x09, 0x08, 0x00, 0xc2, 0x34, 0x7e, /* malloc of 0 at 8 */
    0x7e, 0x07, 0xfc, 0x09, 0x08, 0x38, 0xd9, 0x7e, /* free of 8 */
};

int main(int argc, char **argv) {
    int failures = 0;
    (void)argv;
    calls();
    if (argc > 1) {
        return fwrite(bytes, 1, count, stdout) != count;
    }
    if (count != sizeof expected || memcmp(bytes, expected, sizeof expected) != 0) {
        failures++;
    }
    printf("%d failures\n", failures);
    return failures;
}
