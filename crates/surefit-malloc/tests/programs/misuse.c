/* Frees what is no object. The argument says what. */
#include "check.h"

#include <pthread.h>

static void *free_it(void *object) {
    c_free(object);
    return NULL;
}

static void by_another_thread(void *object) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, free_it, object) == 0);
    pthread_join(thread, NULL);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    char *object = c_malloc(100), *neighbour = c_malloc(100), *large = c_malloc(100000);
    char on_stack[32];
    if (strcmp(what, "twice") == 0) {
        c_free(object);
        c_free(object);
    } else if (strcmp(what, "inside") == 0) {
        c_free(object + 16);
    } else if (strcmp(what, "odd") == 0) {
        c_free(object + 1);
    } else if (strcmp(what, "elsewhere") == 0) {
        by_another_thread(object + 16);
    } else if (strcmp(what, "stack") == 0) {
        c_free(on_stack);
    } else if (strcmp(what, "static") == 0) {
        static char bytes[64];
        c_free(bytes);
    } else if (strcmp(what, "large twice") == 0) {
        c_free(large);
        c_free(large);
    } else if (strcmp(what, "large inside") == 0) {
        c_free(large + 8192);
    } else if (strcmp(what, "resized") == 0) {
        CHECK(c_realloc(on_stack, 200) == NULL);
    } else {
        c_free(object);
        c_free(large);
    }
    c_free(neighbour);
    puts("went on");
    return 0;
}
