/* The names that GNU's C library has for malloc's family, mixed with the standard ones: what one gives the other takes. */
#include "check.h"

#include <malloc.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t),
    *__libc_valloc(size_t), *__libc_pvalloc(size_t);
extern void __libc_free(void *);
extern int __posix_memalign(void **, size_t, size_t);

static void use(char *object, size_t bytes, size_t align) {
    CHECK(object != NULL && (uintptr_t)object % align == 0 && malloc_usable_size(object) >= bytes);
    memset(object, 5, bytes);
}

int main(void) {
    for (size_t bytes = 1; bytes < 300000; bytes = bytes * 2 + 3) {
        char *object = __libc_malloc(bytes);
        use(object, bytes, 16);
        object = c_realloc(object, bytes * 2);
        use(object, bytes * 2, 16);
        c_free(object);
        object = __libc_calloc(3, bytes);
        CHECK(object[3 * bytes - 1] == 0);
        use(object, 3 * bytes, 16);
        object = __libc_realloc(object, bytes);
        use(object, bytes, 16);
        c_free(object);
        object = c_malloc(bytes);
        __libc_free(__libc_realloc(object, bytes + 100));
        object = __libc_memalign(256, bytes);
        use(object, bytes, 256);
        c_free(object);
        object = __libc_valloc(bytes);
        use(object, bytes, 4096);
        c_free(object);
        object = __libc_pvalloc(bytes);
        use(object, (bytes + 4095) / 4096 * 4096, 4096);
        c_free(object);
        void *aligned;
        CHECK(__posix_memalign(&aligned, 64, bytes) == 0);
        use(aligned, bytes, 64);
        __libc_free(aligned);
        CHECK(__posix_memalign(&aligned, 3, bytes) == EINVAL);
    }
    __libc_free(NULL);
    puts("done");
    return 0;
}
