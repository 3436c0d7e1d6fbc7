/* What the programs of these tests share: a check that says where it failed, and objects whose bytes say whose they are. */
#ifndef CHECK_H
#define CHECK_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what) check((what) ? 1 : 0, #what, __FILE__, __LINE__)

static inline void check(int holds, const char *what, const char *file, int line) {
    if (!holds) {
        fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
        _exit(1);
    }
}

/* The compiler knows what malloc does, and may leave out what it does here: it cannot know these. */
static void *(*volatile c_malloc)(size_t) = malloc;
static void *(*volatile c_calloc)(size_t, size_t) = calloc;
static void *(*volatile c_realloc)(void *, size_t) = realloc;
static void (*volatile c_free)(void *) = free;

static inline unsigned next_number(unsigned *state) {
    *state = *state * 1103515245u + 12345u;
    return *state >> 8;
}

static inline void fill(void *object, size_t bytes) {
    memset(object, (int)(((uintptr_t)object >> 4) ^ bytes) & 0xff, bytes);
}

static inline int is_filled(const void *object, size_t bytes, uintptr_t as, size_t as_bytes) {
    const unsigned char *byte = object;
    unsigned char wanted = (unsigned char)((as >> 4) ^ as_bytes);
    for (size_t i = 0; i < bytes; i++)
        if (byte[i] != wanted)
            return 0;
    return 1;
}

/* A line of /proc/self/status in KiB. */
static inline long status_kib(const char *name) {
    char line[256];
    long found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            found = atol(line + strlen(name) + 1);
    fclose(file);
    CHECK(found >= 0);
    return found;
}

#endif
