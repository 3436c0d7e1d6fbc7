/* Runs with SUREFIT_LIMIT=64M and SUREFIT_SOFT_LIMIT=32M: leaks until it gets NULL, and goes on. */
#include "check.h"

#include <stdint.h>

#include "surefit_malloc.h"

enum { LIMIT = 64 << 20, SOFT = 32 << 20, UNIT = 8192 };

static int calls;
static void *saved;

/* What it does may allocate and free. */
static void above(void *argument) {
    ++*(int *)argument;
    c_free(saved);
    saved = c_malloc(1000);
}

static void leak(size_t bytes, size_t least) {
    void *last = NULL;
    size_t held = 0;
    calls = 0;
    for (;;) {
        errno = 0;
        void **object = c_malloc(bytes);
        if (!object) {
            CHECK(errno == ENOMEM);
            break;
        }
        memset(object, 1, bytes);
        *object = last;
        last = object;
        held += bytes;
        CHECK(held <= LIMIT);
    }
    if (held < least) {
        fprintf(stderr, "objects of %zu bytes: NULL after %zu bytes\n", bytes, held);
        _exit(1);
    }
    /* 1: the soft limit was crossed once on the way. */
    CHECK(calls == 1);
    CHECK(c_realloc(last, LIMIT) == NULL && c_calloc(1, LIMIT) == NULL);
    /* It goes on. */
    for (int i = 0; i < 1000 && last; i++) {
        void *next = *(void **)last;
        c_free(last);
        last = next;
    }
    void *again = c_malloc(bytes);
    CHECK(again != NULL);
    c_free(again);
    while (last) {
        void *next = *(void **)last;
        c_free(last);
        last = next;
    }
}

int main(void) {
    CHECK(surefit_malloc_on_soft_limit(above, &calls));
    void *text = c_malloc(1 << 16);
    setvbuf(stdout, text, _IOFBF, 1 << 16);
    /* Up to a page of each class that was used before, and what libraries hold, is missing. */
    leak(64, LIMIT - (LIMIT >> 6) - (1 << 20));
    leak(1000, LIMIT - (LIMIT >> 5) - (1 << 20));
    leak(UNIT * 10, LIMIT - (1 << 20));
    leak(1 << 20, LIMIT - (3 << 20));
    surefit_malloc_set_limit(SIZE_MAX);
    CHECK(surefit_malloc_on_soft_limit(NULL, NULL));
    calls = 0;
    char *large = c_malloc((size_t)LIMIT * 2);
    CHECK(large != NULL && calls == 0);
    surefit_malloc_set_limit(LIMIT);
    CHECK(c_malloc(UNIT * 10) == NULL);
    c_free(large);
    surefit_malloc_set_soft_limit(1 << 20);
    CHECK(surefit_malloc_on_soft_limit(above, &calls));
    large = c_malloc(2 << 20);
    CHECK(large != NULL && calls == 1);
    c_free(large);
    puts("done");
    return 0;
}
