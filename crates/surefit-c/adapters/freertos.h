/* What adapters/freertos.c offers beyond the functions of FreeRTOS's portable.h. */
#ifndef SUREFIT_FREERTOS_H
#define SUREFIT_FREERTOS_H

#include <stdbool.h>

/* Whether every invariant of the heap holds; true before the first allocation. The scheduler is
 * suspended meanwhile: O(heap). */
bool surefit_freertos_check(void);

#endif /* SUREFIT_FREERTOS_H */
