/* Loads a plugin with RTLD_DEEPBIND, by its name alone, in each way, and exchanges objects with it. */
#include "check.h"

#include <dlfcn.h>

enum { OBJECTS = 100 };

static void exchange_with(void *library) {
    CHECK(library != NULL);
    void *(*exchange)(void *, size_t) = (void *(*)(void *, size_t))dlsym(library, "exchange");
    CHECK(exchange != NULL);
    for (size_t bytes = 1; bytes < 200000; bytes = bytes * 3 / 2 + 1) {
        char *objects[OBJECTS];
        for (int i = 0; i < OBJECTS; i++) {
            objects[i] = exchange(c_malloc(bytes), bytes);
            CHECK(objects[i] != NULL && objects[i][bytes - 1] == 7);
        }
        for (int i = 0; i < OBJECTS; i++)
            c_free(objects[i]);
    }
    CHECK(dlclose(library) == 0);
}

int main(void) {
    exchange_with(dlopen("libsurefit_test_plugin.so", RTLD_NOW | RTLD_DEEPBIND));
    exchange_with(dlopen("libsurefit_test_plugin.so", RTLD_LAZY | RTLD_GLOBAL | RTLD_DEEPBIND));
    exchange_with(dlmopen(LM_ID_BASE, "libsurefit_test_plugin.so", RTLD_NOW | RTLD_DEEPBIND));
    /* What is not there is not there, and the program is told. */
    CHECK(dlopen("libsurefit_test_none.so", RTLD_NOW | RTLD_DEEPBIND) == NULL && dlerror() != NULL);
    /* Without a name it is the program. */
    void *program = dlopen(NULL, RTLD_NOW | RTLD_DEEPBIND);
    CHECK(program != NULL && dlsym(program, "main") == (void *)main);
    puts("done");
    return 0;
}
