/* Records what a program asks of its heap, whatever heap that is: each call becomes a few bytes, which
 * the program sends wherever it likes, to a UART or into a file, as they come. On the other side
 * `surefit trace import BYTES -o FILE.sft.zst` makes a trace of them, also if some got lost.
 *
 * Compile trace.c into the program, in C99 or later. It needs no C library, no memory but 8 bytes, and
 * no end: the recording may stop anywhere. */
#ifndef SUREFIT_TRACE_H
#define SUREFIT_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The program defines this: it sends one byte. It must not allocate. */
void surefit_trace_put(unsigned char byte);

/* Call this once, before the first call below: the heap is empty. */
void surefit_trace_begin(void);

/* Call these inside the heap's lock: a free before the object is freed, the others after the object
 * was allocated. What failed (object is NULL), and free(NULL), sends nothing. */
void surefit_trace_malloc(const void *object, size_t size);
void surefit_trace_calloc(const void *object, size_t count, size_t size);
void surefit_trace_aligned(const void *object, size_t align, size_t size);
void surefit_trace_free(const void *object);

/* `old` is the object's address from before the call, which is no pointer any more after it. */
void surefit_trace_realloc(uintptr_t old, const void *object, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SUREFIT_TRACE_H */
