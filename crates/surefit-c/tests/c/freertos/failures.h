/* How programs on FreeRTOS end when something fails: with a line, and status 1. After task.h. */
#include <stdio.h>
#include <stdlib.h>

void assert_failed(const char *file, int line) {
    printf("assertion failed: %s, line %d\n", file, line);
    exit(1);
}

void vApplicationStackOverflowHook(TaskHandle_t handle, char *name) {
    (void)handle;
    printf("no stack is left for %s\n", name);
    exit(1);
}

void surefit_panicked(void);
void surefit_panicked(void) {
    printf("surefit panicked\n");
    exit(1);
}
