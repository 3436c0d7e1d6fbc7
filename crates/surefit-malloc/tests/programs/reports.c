/* What the heap says of itself. */
#include "check.h"

#include <malloc.h>

int main(void) {
    static void *objects[1000];
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < 1000; i++)
        objects[i] = c_malloc(1000);
    char *large = c_malloc(10 << 20);
    memset(large, 1, 10 << 20);
    struct mallinfo2 now = mallinfo2();
    CHECK(now.uordblks >= before.uordblks + 1000 * 1000 && now.arena >= now.uordblks);
    CHECK(now.hblks == before.hblks + 1 && now.hblkhd >= before.hblkhd + (10 << 20));
    for (int i = 0; i < 1000; i++)
        c_free(objects[i]);
    c_free(large);
    CHECK(mallinfo2().keepcost > 10 << 20);
    long resident = status_kib("VmRSS");
    CHECK(malloc_trim(0) == 1);
    CHECK(resident - status_kib("VmRSS") > 9 << 10);
    CHECK(mallinfo2().keepcost == 0);
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    CHECK(malloc_info(1, stream) != 0 && malloc_info(0, stream) == 0);
    fclose(stream);
    CHECK(strncmp(text, "<malloc version=\"1\">\n", 21) == 0 && strstr(text, "</malloc>\n"));
    c_free(text);
    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1);
    malloc_stats();
    puts("done");
    return 0;
}
