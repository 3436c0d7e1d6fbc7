/* A program with two heaps: its malloc's, and that of a plugin. Both grow far. */
#include "check.h"

#include <dlfcn.h>

enum { OBJECTS = 40, BYTES = 16 << 20 };

int main(int count, char **arguments) {
    char *first = c_malloc(100);
    CHECK(count == 2 && first != NULL);
    void *library = dlopen(arguments[1], RTLD_NOW);
    CHECK(library != NULL);
    void *(*more)(size_t) = (void *(*)(size_t))dlsym(library, "surefit_plugin_keep");
    CHECK(more != NULL);
    char *objects[OBJECTS], *others[OBJECTS];
    for (int i = 0; i < OBJECTS; i++) {
        objects[i] = c_malloc(BYTES);
        others[i] = more(BYTES);
        CHECK(objects[i] != NULL && others[i] != NULL);
        objects[i][BYTES - 1] = 1;
        others[i][BYTES - 1] = 2;
    }
    for (int i = 0; i < OBJECTS; i++) {
        CHECK(objects[i][BYTES - 1] == 1 && others[i][BYTES - 1] == 2);
        c_free(objects[i]);
    }
    puts("done");
    return 0;
}
