/* A library that is loaded while a program runs: it frees what it gets, and gives what the program frees. */
#include <stdlib.h>
#include <string.h>

void *exchange(void *object, size_t bytes);

void *exchange(void *object, size_t bytes) {
    free(object);
    void *other = malloc(bytes);
    if (other)
        memset(other, 7, bytes);
    return other;
}
