/* When the heap is made: by the first call, or before main where the environment has a variable of it. */
#include "check.h"

#include <fcntl.h>

/* How many mappings the process has, without a call of malloc. */
static int mappings(void) {
    static char text[1 << 16];
    int count = 0;
    int maps = open("/proc/self/maps", O_RDONLY);
    CHECK(maps >= 0);
    for (;;) {
        ssize_t bytes = read(maps, text, sizeof text);
        CHECK(bytes >= 0);
        if (bytes == 0)
            break;
        for (ssize_t i = 0; i < bytes; i++)
            count += text[i] == '\n';
    }
    close(maps);
    return count;
}

int main(int count, char **arguments) {
    (void)arguments;
    int before = mappings();
    char *object = c_malloc(100);
    CHECK(object != NULL);
    int after = mappings();
    /* What is shared, records, units: of a heap that was made before, only units. */
    CHECK(count == 1 ? after >= before + 3 : after <= before + 1);
    c_free(object);
    puts("done");
    return 0;
}
