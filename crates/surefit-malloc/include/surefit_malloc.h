/* What libsurefit_malloc.so has beside malloc's family. A program that calls these runs with the
 * library only; to call them if it is there, declare them weak and compare their addresses with 0. */
#ifndef SUREFIT_MALLOC_H
#define SUREFIT_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most bytes that pages and large objects may hold, free ones that were not given back included;
 * SIZE_MAX for no limit. Calls that would need more are refused: NULL, ENOMEM. */
void surefit_malloc_set_limit(size_t bytes);

/* The bytes of pages and large objects above which the function below is called; SIZE_MAX for never. */
void surefit_malloc_set_soft_limit(size_t bytes);

/* Has a function called each time the heap rises above the soft limit: by the thread whose call did it,
 * or one that calls at the same time, at the end of a call, with no lock held, so that it may allocate
 * and free. It is called again after the heap has fallen by 1/32 below the limit. Several threads may be
 * in it at once. NULL: no function. Answers false, and changes nothing, if there is no memory for it. */
bool surefit_malloc_on_soft_limit(void (*function)(void *argument), void *argument);

/* Whether the program should move an object to a new place, if it can: allocate, copy, free. Then its
 * size-class has more pages that are not full than SUREFIT_DEFRAG_PAGES says (by default 4), in this
 * thread's instance, and the object lies in one that new objects will not fill next. Pages that serve
 * several size-classes count together; a quarter must be free in one where no new object fits. Objects of over
 * 32 KiB, those of other threads, and what is none: false. No lock is taken, but by the first hint
 * about a size-class: it puts what the thread freed of that class back into pages. */
bool surefit_defrag_hint(const void *object);

#ifdef __cplusplus
}
#endif

#endif
