/* Large objects of which the program writes one page take no memory that others wrote. */
#include "check.h"

enum { MIB = 1 << 20, WRITTEN = 40 * MIB, SPARSE = 64 * MIB, TIMES = 5 };

static char *written(void) {
    char *object = c_malloc(WRITTEN);
    CHECK(object != NULL);
    memset(object, 7, WRITTEN);
    return object;
}

static char *sparse(void) {
    char *object = c_malloc(SPARSE);
    CHECK(object != NULL);
    object[SPARSE / 3] = 1;
    return object;
}

int main(void) {
    long before = status_kib("VmRSS");
    c_free(sparse());
    c_free(written());
    for (int i = 0; i < TIMES; i++) {
        char *first = sparse(), *second = written();
        CHECK(status_kib("VmRSS") - before < 60 << 10);
        c_free(first);
        c_free(second);
    }
    puts("done");
    return 0;
}
