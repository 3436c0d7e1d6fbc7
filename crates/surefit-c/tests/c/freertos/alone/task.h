/* A stand-in of ours: see FreeRTOS.h beside this file. */
#ifndef TASK_H
#define TASK_H

#include "FreeRTOS.h"

void vTaskSuspendAll(void);
BaseType_t xTaskResumeAll(void);

#endif /* TASK_H */
