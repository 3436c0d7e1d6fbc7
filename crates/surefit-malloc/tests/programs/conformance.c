/* What the standards say of each function. */
#include "check.h"

#include <malloc.h>
#include <stddef.h>

static void *(*volatile c_aligned_alloc)(size_t, size_t) = aligned_alloc;
static void *(*volatile c_memalign)(size_t, size_t) = memalign;
static int (*volatile c_posix_memalign)(void **, size_t, size_t) = posix_memalign;
static void *(*volatile c_reallocarray)(void *, size_t, size_t) = reallocarray;
void free_sized(void *, size_t);
void free_aligned_sized(void *, size_t, size_t);
void cfree(void *);

static volatile size_t TOO_MANY[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1,
                                  SIZE_MAX - 8192, (size_t)1 << 47, ((size_t)1 << 45) + 1};

static int is_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return 0;
    return 1;
}

static void sizes(void) {
    for (size_t bytes = 0; bytes < 70000; bytes += bytes < 2000 ? 1 : 977) {
        unsigned char *object = c_malloc(bytes);
        CHECK(object && (uintptr_t)object % _Alignof(max_align_t) == 0);
        CHECK(malloc_usable_size(object) >= bytes && malloc_usable_size(object) >= 1);
        memset(object, 0xa5, malloc_usable_size(object));
        unsigned char *zeros = c_calloc(bytes, 1);
        CHECK(zeros && is_zero(zeros, bytes) && (uintptr_t)zeros % _Alignof(max_align_t) == 0);
        memset(zeros, 0xa5, malloc_usable_size(zeros));
        c_free(object);
        c_free(zeros);
        zeros = c_calloc(1, bytes);
        CHECK(zeros && is_zero(zeros, bytes));
        c_free(zeros);
    }
    for (size_t bytes = 1 << 20; bytes <= (size_t)1 << 32; bytes *= 2) {
        unsigned char *object = c_malloc(bytes);
        CHECK(object);
        object[0] = object[bytes - 1] = 1;
        c_free(object);
    }
    void *one = c_malloc(0), *other = c_malloc(0);
    CHECK(one && other && one != other);
    c_free(one);
    c_free(other);
    c_free(NULL);
    CHECK(malloc_usable_size(NULL) == 0);
}

static void refusals(void) {
    for (size_t i = 0; i < sizeof TOO_MANY / sizeof *TOO_MANY; i++) {
        void *out = &errno;
        errno = 0;
        CHECK(c_malloc(TOO_MANY[i]) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(c_calloc(1, TOO_MANY[i]) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(c_memalign(64, TOO_MANY[i]) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(c_aligned_alloc(4096, TOO_MANY[i]) == NULL && errno == ENOMEM);
        errno = 7;
        CHECK(c_posix_memalign(&out, 64, TOO_MANY[i]) == ENOMEM && errno == 7 && out == &errno);
        char *kept = c_malloc(100);
        fill(kept, 100);
        errno = 0;
        CHECK(c_realloc(kept, TOO_MANY[i]) == NULL && errno == ENOMEM);
        CHECK(is_filled(kept, 100, (uintptr_t)kept, 100));
        c_free(kept);
    }
    errno = 0;
    CHECK(c_calloc(SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(c_calloc((size_t)1 << 32, (size_t)1 << 32) == NULL && errno == ENOMEM);
    char *kept = c_malloc(10);
    errno = 0;
    CHECK(c_reallocarray(kept, SIZE_MAX / 4, 5) == NULL && errno == ENOMEM);
    kept = c_reallocarray(kept, 25, 4);
    CHECK(malloc_usable_size(kept) >= 100);
    c_free(kept);
    errno = 0;
    CHECK(valloc(TOO_MANY[0]) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(pvalloc(TOO_MANY[1] + 10) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(c_memalign(SIZE_MAX, 1) == NULL && errno == EINVAL);
    errno = 0;
    CHECK(c_memalign((size_t)1 << 63, 1) == NULL && errno == ENOMEM);
}

static void alignments(void) {
    for (size_t align = 1; align <= (size_t)1 << 32; align *= 2) {
        for (size_t bytes = 0; bytes < 100000; bytes = bytes * 3 + 1) {
            char *object = c_memalign(align, bytes);
            CHECK(object && (uintptr_t)object % align == 0 && (uintptr_t)object % 16 == 0);
            CHECK(malloc_usable_size(object) >= bytes);
            memset(object, 1, bytes);
            c_free(object);
            object = c_aligned_alloc(align, bytes);
            CHECK(object && (uintptr_t)object % align == 0);
            free_aligned_sized(object, align, bytes);
            void *out = NULL;
            int answer = c_posix_memalign(&out, align, bytes);
            CHECK(answer == (align < sizeof(void *) ? EINVAL : 0) && (out == NULL) == (answer != 0));
            c_free(out);
        }
    }
    void *out = NULL;
    CHECK(c_posix_memalign(&out, 0, 1) == EINVAL && c_posix_memalign(&out, 24, 1) == EINVAL && out == NULL);
    errno = 0;
    CHECK(c_aligned_alloc(0, 1) == NULL && errno == EINVAL);
    errno = 0;
    CHECK(c_aligned_alloc(48, 1) == NULL && errno == EINVAL);
    /* As in GNU's library, memalign takes the next power of two. */
    char *object = c_memalign(48, 100);
    CHECK(object && (uintptr_t)object % 64 == 0);
    c_free(object);
    long page = sysconf(_SC_PAGESIZE);
    object = valloc(10);
    CHECK(object && (uintptr_t)object % (size_t)page == 0);
    c_free(object);
    object = pvalloc(10);
    CHECK(object && (uintptr_t)object % (size_t)page == 0 && malloc_usable_size(object) >= (size_t)page);
    free_sized(object, 10);
}

/* Bytes are kept over every change of size. */
static void resizes(void) {
    unsigned random = 5;
    for (int round = 0; round < 300; round++) {
        size_t bytes = next_number(&random) % 300;
        unsigned char *object = c_realloc(NULL, bytes);
        for (size_t i = 0; i < bytes; i++)
            object[i] = (unsigned char)(i * 7);
        for (int step = 0; step < 20; step++) {
            size_t now = next_number(&random) % (step % 5 == 4 ? 3000000 : step % 2 ? 60000 : 600) + 1;
            object = c_realloc(object, now);
            CHECK(object && malloc_usable_size(object) >= now && (uintptr_t)object % 16 == 0);
            for (size_t i = 0; i < bytes && i < now; i++)
                CHECK(object[i] == (unsigned char)(i * 7));
            for (size_t i = bytes; i < now; i++)
                object[i] = (unsigned char)(i * 7);
            bytes = now;
        }
        c_free(object);
    }
    errno = 3;
    CHECK(c_realloc(c_malloc(10), 0) == NULL && errno == 3);
}

/* free leaves errno alone, whatever it has to do. */
static void errors_stay(void) {
    static void *objects[4000];
    for (int i = 0; i < 4000; i++)
        objects[i] = c_malloc((size_t)i * 97);
    errno = EPERM;
    for (int i = 0; i < 4000; i++)
        c_free(objects[i]);
    CHECK(errno == EPERM);
    malloc_trim(0);
}

static void *late;

static void at_exit(void) {
    c_free(late);
    late = c_malloc(100000);
    memset(late, 1, 100000);
    write(1, "late\n", 5);
}

static void __attribute__((destructor)) at_the_end(void) {
    void *more = c_malloc(50);
    memset(more, 1, 50);
    c_free(more);
    c_free(late);
    write(1, "last\n", 5);
}

int main(void) {
    sizes();
    refusals();
    alignments();
    resizes();
    errors_stay();
    cfree(c_malloc(3));
    late = c_malloc(10);
    atexit(at_exit);
    puts("done");
    fflush(stdout);
    return 0;
}
