/* A hash table whose sizes drift, as a cache's do: at each step it asks about some entries, and moves those that the heap names.
 * Argument: 1 to ask. Prints the bytes that it holds and those of the heap's pages. */
#include "check.h"

#include <malloc.h>

#include "surefit_malloc.h"

enum { BUCKETS = 1 << 14, ENTRIES = 40000, PHASES = 12, ASKED = 16 };

struct entry {
    struct entry *next;
    unsigned key;
    unsigned bytes;
    char value[];
};

static struct entry *buckets[BUCKETS];
static size_t live;
static unsigned asked_bucket;

static void insert(unsigned key, unsigned bytes) {
    struct entry *entry = c_malloc(sizeof *entry + bytes);
    CHECK(entry != NULL);
    *entry = (struct entry){buckets[key % BUCKETS], key, bytes};
    memset(entry->value, (int)key, bytes);
    buckets[key % BUCKETS] = entry;
    live += sizeof *entry + bytes;
}

static void delete(unsigned key) {
    struct entry **link = &buckets[key % BUCKETS];
    while (*link && (*link)->key != key)
        link = &(*link)->next;
    struct entry *entry = *link;
    if (entry) {
        for (unsigned i = 0; i < entry->bytes; i++)
            CHECK(entry->value[i] == (char)key);
        *link = entry->next;
        live -= sizeof *entry + entry->bytes;
        c_free(entry);
    }
}

/* Moves entries of the next few buckets whose pages are worth emptying. */
static void defragment(void) {
    for (int i = 0; i < ASKED; i++, asked_bucket = (asked_bucket + 1) % BUCKETS) {
        for (struct entry **link = &buckets[asked_bucket]; *link; link = &(*link)->next) {
            struct entry *old = *link;
            if (surefit_defrag_hint(old)) {
                struct entry *new = c_malloc(sizeof *new + old->bytes);
                CHECK(new != NULL);
                memcpy(new, old, sizeof *new + old->bytes);
                *link = new;
                c_free(old);
            }
        }
    }
}

int main(int count, char **arguments) {
    int asks = count > 1 && atoi(arguments[1]);
    unsigned random = 9, oldest = 0, newest = 0;
    for (int phase = 0; phase < PHASES; phase++) {
        unsigned bytes = 20 + (unsigned)phase * 37;
        for (int i = 0; i < ENTRIES; i++) {
            insert(newest++, bytes + next_number(&random) % 16);
            /* Most old entries go, some stay for long. */
            unsigned key = oldest++ - (phase > 0 ? ENTRIES / 2 : 0);
            if (phase > 0 && key % 20 != 0)
                delete(key);
            if (asks)
                defragment();
        }
    }
    malloc_trim(0);
    struct mallinfo2 info = mallinfo2();
    printf("%zu %zu\n", live, info.arena + info.hblkhd);
    return 0;
}
