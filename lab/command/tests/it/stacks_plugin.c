/* A library to be opened and closed: FRAME says how large its frames are. */
#include <stddef.h>

__attribute__((noinline)) void plugin(int levels, void (*allocate)(size_t)) {
    volatile char frame[FRAME];
    frame[0] = (char)levels;
    allocate(80);
    if (levels > 0) plugin(levels - 1, allocate);
    frame[FRAME - 1] = frame[0];
}
