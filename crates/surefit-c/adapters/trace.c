/* The hook of trace.h: one frame for each call, 9 to 15 bytes on most boards.
 *
 *     7e | number, operation, addresses and sizes | check sequence | 7e
 *
 * traces/FORMAT.md of surefit describes the frames, under "As calls happen".
 *
 * SUREFIT_TRACE_BASE is an address that all addresses are counted from: that of the heap's region
 * makes frames shorter. SUREFIT_TRACE_THREAD is the name of a function of the program, which returns
 * the number of the calling thread or task as an unsigned; without it all calls are of thread 0. */
#include "trace.h"

#ifndef SUREFIT_TRACE_BASE
#define SUREFIT_TRACE_BASE 0
#endif

#ifdef SUREFIT_TRACE_THREAD
unsigned SUREFIT_TRACE_THREAD(void);
#define THREAD SUREFIT_TRACE_THREAD()
#else
#define THREAD 0
#endif

enum { ALLOC, ZALLOC, AALLOC, REALLOC, FREE, BEGIN = 7, VERSION = 1, FLAG = 0x7e, ESCAPE = 0x7d };

static uint32_t number; /* of the next frame */
static uint16_t check;  /* the check sequence of the frame so far: FCS-16 of RFC 1662 */

static void put(unsigned byte) {
    if (byte == FLAG || byte == ESCAPE) {
        surefit_trace_put(ESCAPE);
        byte ^= 0x20;
    }
    surefit_trace_put((unsigned char)byte);
}

static void add(unsigned byte) {
    check = (uint16_t)(check ^ byte);
    for (int bit = 0; bit < 8; bit++) {
        check = (uint16_t)(check & 1 ? check >> 1 ^ 0x8408 : check >> 1);
    }
    put(byte);
}

static void integer(uintmax_t value) {
    for (; value >= 128; value >>= 7) {
        add((unsigned)(value & 127) | 128);
    }
    add((unsigned)value);
}

/* A frame: what happened, what stands beside that, and further numbers. */
static void send(unsigned operation, uintmax_t beside, unsigned count, const uintmax_t *numbers) {
    surefit_trace_put(FLAG);
    check = 0xffff;
    integer(number++);
    add(operation | (unsigned)(beside < 31 ? beside : 31) << 3);
    if (beside >= 31) {
        integer(beside - 31);
    }
    for (unsigned index = 0; index < count; index++) {
        integer(numbers[index]);
    }
    unsigned sum = check ^ 0xffffU;
    put(sum & 0xff);
    put(sum >> 8);
    surefit_trace_put(FLAG);
}

static uintmax_t place(uintptr_t object) {
    return (uintptr_t)(object - (uintptr_t)(SUREFIT_TRACE_BASE));
}

#define SEND(operation, count, ...)                                             \
    send(operation, THREAD, count, (const uintmax_t[]){__VA_ARGS__})

void surefit_trace_begin(void) {
    number = 0;
    send(BEGIN, VERSION, 0, NULL);
}

void surefit_trace_malloc(const void *object, size_t size) {
    if (object != NULL) {
        SEND(ALLOC, 2, place((uintptr_t)object), size);
    }
}

void surefit_trace_calloc(const void *object, size_t count, size_t size) {
    if (object != NULL) {
        SEND(ZALLOC, 2, place((uintptr_t)object), count * size);
    }
}

void surefit_trace_aligned(const void *object, size_t align, size_t size) {
    unsigned log2 = 0;
    for (; align > 1; align >>= 1) {
        log2++;
    }
    if (object != NULL) {
        SEND(AALLOC, 3, log2, place((uintptr_t)object), size);
    }
}

void surefit_trace_free(const void *object) {
    if (object != NULL) {
        SEND(FREE, 1, place((uintptr_t)object));
    }
}

void surefit_trace_realloc(uintptr_t old, const void *object, size_t size) {
    if (old == 0) {
        surefit_trace_malloc(object, size);
    } else if (object != NULL) {
        SEND(REALLOC, 3, place(old), place((uintptr_t)object), size);
    } else if (size == 0) {
        SEND(FREE, 1, place(old));
    }
}
