/* A program that keeps records of changing lengths, and what a careless caller may do. */
#define _DEFAULT_SOURCE /* mmap's constants */
#include "surefit.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static int failures = 0;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures += 1;                                                                         \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
        }                                                                                          \
    } while (0)

#define OK SUREFIT_STATUS_OK

/* At a multiple of the largest page, so that every run does the same. */
enum { MEMORY_BYTES = 256 * 1024 + 64, LARGEST_PAGE = 64 * 1024 };
static unsigned char space[MEMORY_BYTES + LARGEST_PAGE];
static unsigned char *memory;

/* Numbers that look random, the same in every run. */
static uint32_t state = 2463534242u;
static uint32_t number(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

enum { RECORDS = 200 };
static surefit_key keys[RECORDS];
static unsigned char marks[RECORDS];
static surefit_key stale[RECORDS];
static uint64_t moves;

static void fill(surefit_heap *heap, surefit_key key, unsigned char mark) {
    void *bytes;
    size_t offset = 0, count;
    while (offset < key.length) {
        EXPECT(surefit_get(heap, key, offset, &bytes, &count) == OK && count > 0);
        memset(bytes, mark, count);
        offset += count;
    }
}

static void verify(surefit_heap *heap, surefit_key key, unsigned char mark) {
    unsigned char read[64];
    size_t offset = 0;
    while (offset < key.length) {
        size_t count = key.length - offset < sizeof read ? key.length - offset : sizeof read;
        EXPECT(surefit_read(heap, key, offset, read, count) == OK);
        for (size_t i = 0; i < count; i++) EXPECT(read[i] == mark);
        offset += count;
    }
}

/* Keys of a live object of which one bit of the length or of the generation was changed. */
static void expect_forgeries_are_stale(surefit_heap *heap, surefit_key key) {
    for (int bit = 0; bit < 64; bit++) {
        surefit_key forged = key;
        char byte;
        void *bytes;
        size_t count;
        *(bit < 32 ? &forged.length : &forged.generation) ^= (uint32_t)1 << bit % 32;
        EXPECT(!surefit_is_live(heap, forged));
        EXPECT(surefit_get(heap, forged, 0, &bytes, &count) == SUREFIT_STATUS_STALE);
        EXPECT(surefit_read(heap, forged, 0, &byte, 1) == SUREFIT_STATUS_STALE);
        EXPECT(surefit_write(heap, forged, 0, "a", 1) == SUREFIT_STATUS_STALE);
        EXPECT(surefit_resize(heap, &forged, 10, 0) == SUREFIT_STATUS_STALE);
        EXPECT(surefit_free(heap, forged) == SUREFIT_STATUS_STALE);
    }
}

/* A drifting load; every byte is verified, and every former key stays stale. */
static void drift(const surefit_config *config, size_t misaligned) {
    surefit_heap *heap;
    surefit_stats stats;
    EXPECT(surefit_heap_init(memory + misaligned, 256 * 1024, config, &heap) == OK);
    memset(keys, 0, sizeof keys);
    memset(stale, 0, sizeof stale);
    for (int round = 0; round < 4000; round++) {
        size_t at = number(RECORDS);
        size_t bytes = number(4) == 0 ? number(6000) : number(200);
        if (!surefit_is_live(heap, keys[at])) {
            EXPECT(surefit_free(heap, keys[at]) == SUREFIT_STATUS_STALE);
            if (surefit_can_alloc(heap, bytes, 8)) {
                EXPECT(surefit_alloc(heap, bytes, 8, &keys[at]) == OK);
                marks[at] = (unsigned char)round;
                fill(heap, keys[at], marks[at]);
            }
        } else if (number(3) == 0) {
            surefit_key former = keys[at];
            surefit_status status = surefit_resize(heap, &keys[at], bytes, 8);
            EXPECT(status == OK || status == SUREFIT_STATUS_NO_MEMORY ||
                   status == SUREFIT_STATUS_NO_ENTRY);
            if (status == OK) {
                stale[at] = former;
                fill(heap, keys[at], marks[at]);
            } else {
                verify(heap, former, marks[at]);
            }
        } else {
            verify(heap, keys[at], marks[at]);
            stale[at] = keys[at];
            EXPECT(surefit_free(heap, keys[at]) == OK);
            EXPECT(surefit_free(heap, keys[at]) == SUREFIT_STATUS_STALE);
        }
        EXPECT(!surefit_is_live(heap, stale[at]));
        if (round % 64 == 0) EXPECT(surefit_check(heap, NULL) == OK);
    }
    EXPECT(surefit_stats_get(heap, &stats) == OK);
    EXPECT(stats.moved_bytes >= 8 * stats.moves && stats.moved_bytes_max <= 32 * 1024);
    moves += stats.moves;
    for (size_t i = 0; i < RECORDS; i++) {
        if (surefit_is_live(heap, keys[i])) {
            verify(heap, keys[i], marks[i]);
            EXPECT(surefit_free(heap, keys[i]) == OK);
        }
    }
    EXPECT(surefit_stats_get(heap, &stats) == OK && stats.live_blocks == 0);
    EXPECT(surefit_check(heap, NULL) == OK);
}

/* Every argument that can be wrong, one at a time. */
static void careless(void) {
    surefit_heap *heap = NULL, *other = NULL;
    surefit_key key = {0, 0, 0}, kept, none = {0, 0, 0};
    void *bytes = NULL;
    size_t count = 7;
    static unsigned char second[64 * 1024];
    static uint64_t zeros[64];
    const surefit_config *tiny = surefit_config_tiny();

    EXPECT(surefit_heap_init(NULL, 1000, tiny, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init(memory, MEMORY_BYTES, NULL, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init(memory, MEMORY_BYTES, tiny, NULL) == SUREFIT_STATUS_NULL);
    for (size_t small = 0; small < 1500; small++)
        EXPECT(surefit_heap_init(memory, small, tiny, &heap) == SUREFIT_STATUS_REGION);
    EXPECT(surefit_heap_init(memory, SIZE_MAX, tiny, &heap) == SUREFIT_STATUS_TOO_LARGE);
    EXPECT(heap == NULL);
    EXPECT(surefit_heap_init(memory + 1, 64 * 1024, tiny, &heap) == OK);
    EXPECT(surefit_heap_init(second, sizeof second, tiny, &other) == OK);

    EXPECT(surefit_alloc(NULL, 8, 0, &key) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_alloc(heap, 8, 0, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_alloc((surefit_heap *)(void *)zeros, 8, 0, &key) == SUREFIT_STATUS_NOT_A_HEAP);
    EXPECT(surefit_alloc((surefit_heap *)(void *)((char *)heap + 1), 8, 0, &key) ==
           SUREFIT_STATUS_NOT_A_HEAP);
    EXPECT(surefit_alloc(heap, 8, 3, &key) == SUREFIT_STATUS_ALIGN);
    EXPECT(surefit_alloc(heap, 8, 2048, &key) == SUREFIT_STATUS_ALIGN);
    EXPECT(surefit_alloc(heap, 8, SIZE_MAX / 2 + 1, &key) == SUREFIT_STATUS_ALIGN);
    EXPECT(surefit_alloc(heap, SIZE_MAX, 0, &key) == SUREFIT_STATUS_TOO_LARGE);
    /* Longer than the region: no free would help. */
    EXPECT(surefit_alloc(heap, 100 * 1024, 0, &key) == SUREFIT_STATUS_TOO_LARGE);
    EXPECT(key.name == 0 && key.length == 0);
    EXPECT(surefit_alloc(heap, 0, 0, &kept) == OK && kept.length == 0);
    EXPECT(surefit_get(heap, kept, 0, &bytes, &count) == OK && count == 0);
    EXPECT(surefit_free(heap, kept) == OK);

    EXPECT(surefit_alloc_zeroed(heap, 100, 64, &key) == OK);
    EXPECT(surefit_get(heap, key, 0, &bytes, &count) == OK && count == 100);
    EXPECT(((uintptr_t)bytes & 63) == 0);
    verify(heap, key, 0);
    EXPECT(surefit_get(heap, key, 100, &bytes, &count) == OK && count == 0);
    EXPECT(surefit_get(heap, key, 101, &bytes, &count) == SUREFIT_STATUS_RANGE);
    EXPECT(surefit_get(heap, key, 0, NULL, &count) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_get(heap, key, 0, &bytes, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_read(heap, key, 1, memory, 100) == SUREFIT_STATUS_RANGE);
    EXPECT(surefit_read(heap, key, SIZE_MAX, memory, 2) == SUREFIT_STATUS_RANGE);
    EXPECT(surefit_read(heap, key, 0, NULL, 1) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_write(heap, key, 0, NULL, 1) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_write(heap, key, 99, "ab", 2) == SUREFIT_STATUS_RANGE);
    EXPECT(surefit_read(heap, key, 100, NULL, 0) == OK);
    EXPECT(surefit_write(heap, key, 100, NULL, 0) == OK);
    EXPECT(surefit_write(heap, key, 101, NULL, 0) == SUREFIT_STATUS_RANGE);

    EXPECT(surefit_free(other, key) == SUREFIT_STATUS_FOREIGN);
    EXPECT(surefit_get(other, key, 0, &bytes, &count) == SUREFIT_STATUS_FOREIGN);
    EXPECT(surefit_resize(other, &key, 10, 0) == SUREFIT_STATUS_FOREIGN);
    EXPECT(surefit_free(heap, none) == SUREFIT_STATUS_STALE);
    expect_forgeries_are_stale(heap, key);
    kept = key;
    EXPECT(surefit_resize(heap, &key, SIZE_MAX, 0) == SUREFIT_STATUS_TOO_LARGE);
    EXPECT(surefit_resize(heap, &key, 10, 5) == SUREFIT_STATUS_ALIGN);
    EXPECT(surefit_resize(heap, &key, 10, SIZE_MAX / 2 + 1) == SUREFIT_STATUS_ALIGN);
    EXPECT(surefit_resize(heap, NULL, 10, 0) == SUREFIT_STATUS_NULL);
    EXPECT(memcmp(&kept, &key, sizeof key) == 0);
    EXPECT(surefit_resize(heap, &key, 101, 0) == OK);
    EXPECT(surefit_get(heap, kept, 0, &bytes, &count) == SUREFIT_STATUS_STALE);
    EXPECT(surefit_free(heap, kept) == SUREFIT_STATUS_STALE);
    EXPECT(surefit_free(heap, key) == OK);
    EXPECT(surefit_free(heap, key) == SUREFIT_STATUS_STALE);
    EXPECT(surefit_compact(heap, 10, NULL) == OK);
    EXPECT(surefit_compact(NULL, 10, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_check(NULL, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_stats_get(heap, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_largest_free(NULL) == 0 && surefit_largest_free(heap) > 32 * 1024);
    EXPECT(surefit_alloc(heap, surefit_largest_free(heap), 1, &key) == OK);
    EXPECT(surefit_free(heap, key) == OK);
    EXPECT(!surefit_can_alloc(NULL, 1, 1) && !surefit_can_alloc(heap, 1, 3));
    EXPECT(surefit_check(heap, NULL) == OK && surefit_check(other, NULL) == OK);
}

/* An overwritten table is found. */
static void overwritten(void) {
    surefit_heap *heap;
    surefit_key key;
    surefit_fault fault;
    void *bytes;
    size_t count;
    EXPECT(surefit_heap_init(memory, 16 * 1024, surefit_config_tiny(), &heap) == OK);
    EXPECT(surefit_alloc(heap, 16, 0, &key) == OK);
    EXPECT(surefit_get(heap, key, 0, &bytes, &count) == OK);
    memset(bytes, 0xff, 1000); /* what a caller must not do: beyond its object */
    EXPECT(surefit_check(heap, &fault) == SUREFIT_STATUS_CORRUPT);
    EXPECT(fault.invariant[0] != 0 && fault.invariant[7] == 0);
}

/* A heap of exactly its certified bytes refuses nothing, in adverse orders, wherever it begins. */
static void certified(void) {
    static const surefit_peak peaks[] = {{24, 0, 40}, {64, 8, 20}, {900, 0, 7}};
    static surefit_key live[3][40];
    surefit_demand demand = {peaks, 3, 0, 0, 0, 0, 0, 0, 0, 0};
    surefit_demand budget = {NULL, 0, 100, 8000, 256, 1000000, 0, 0, 0, 0};
    surefit_certificate certificate;
    const surefit_config *tiny = surefit_config_tiny();
    EXPECT(surefit_certify(NULL, &demand, &certificate) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_certify(tiny, NULL, &certificate) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_certify(tiny, &demand, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_certify(tiny, &budget, &certificate) == OK);
    EXPECT(certificate.heap_bytes > 8000 && certificate.moves_max == 1);
    budget.block_bytes = (uint64_t)1 << 40;
    budget.blocks = (uint64_t)1 << 40;
    EXPECT(surefit_certify(tiny, &budget, &certificate) == SUREFIT_STATUS_DEMAND);
    /* Both are live at once: objects of 900 bytes are three pieces, a rest and a spine. */
    demand.blocks = 100;
    demand.block_bytes = 8000;
    demand.largest = 256;
    EXPECT(surefit_certify(tiny, &demand, &certificate) == OK);
    EXPECT(certificate.entries == 100 + 40 + 20 + 7 * 5);
    demand.blocks = 0;
    EXPECT(surefit_certify(tiny, &demand, &certificate) == OK);
    EXPECT(certificate.entries == 40 + 20 + 7 * 5);
    for (size_t misaligned = 0; misaligned < 17; misaligned++) {
        surefit_heap *heap;
        memset(live, 0, sizeof live);
        EXPECT(surefit_heap_init(memory + misaligned, certificate.heap_bytes, tiny, &heap) == OK);
        for (int round = 0; round < 30; round++) {
            size_t first = number(3);
            for (size_t i = 0; i < 3; i++) {
                const surefit_peak *peak = &peaks[(first + i) % 3];
                surefit_key *mine = live[(first + i) % 3];
                for (size_t n = 0; n < peak->objects; n++)
                    if (!surefit_is_live(heap, mine[n]))
                        EXPECT(surefit_alloc(heap, peak->bytes, peak->align, &mine[n]) == OK);
            }
            for (size_t i = 0; i < 3; i++)
                for (size_t n = 0; n < peaks[i].objects; n++)
                    if (number(4) != 0) EXPECT(surefit_free(heap, live[i][n]) == OK);
        }
        EXPECT(surefit_check(heap, NULL) == OK);
    }
}

/* What surefit_alloc refuses in every heap has no certificate, and the same answer. */
static void uncertifiable(void) {
    static unsigned char place[SUREFIT_CONFIG_BYTES];
    const surefit_options options = {1024, 2, 4, 1, 0, 0, UINT32_MAX, 0, 0, NULL};
    const surefit_config *tiny = surefit_config_tiny(), *whole = NULL;
    surefit_peak peak = {5000, 0, 1};
    surefit_demand peaks = {&peak, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    surefit_demand budget = {NULL, 0, 10, 10000, 5000, 0, 0, 0, 0, 0};
    surefit_certificate certificate;
    EXPECT(surefit_config_build(place, sizeof place, &options, &whole) == OK);
    EXPECT(surefit_certify(whole, &peaks, &certificate) == SUREFIT_STATUS_TOO_LARGE);
    EXPECT(surefit_certify(whole, &budget, &certificate) == SUREFIT_STATUS_TOO_LARGE);
    budget.largest = 1024;
    EXPECT(surefit_certify(whole, &budget, &certificate) == OK);
    budget.resized_largest = 1025;
    EXPECT(surefit_certify(whole, &budget, &certificate) == SUREFIT_STATUS_TOO_LARGE);
    budget.largest = 100;
    budget.resized_largest = 101;
    EXPECT(surefit_certify(whole, &budget, &certificate) == SUREFIT_STATUS_DEMAND);
    peak.bytes = SIZE_MAX;
    EXPECT(surefit_certify(tiny, &peaks, &certificate) == SUREFIT_STATUS_TOO_LARGE);
    peak.bytes = 8;
    for (size_t align = 2048; align > 0; align *= 2) {
        peak.align = align;
        EXPECT(surefit_certify(tiny, &peaks, &certificate) == SUREFIT_STATUS_ALIGN);
    }
    if (sizeof(size_t) > 4) {
        const surefit_config *standard = surefit_config_standard();
        peak.bytes = (size_t)UINT32_MAX + 1;
        peak.align = 0;
        budget.resized_largest = 0;
        budget.largest = (size_t)UINT32_MAX + 1;
        EXPECT(surefit_certify(standard, &peaks, &certificate) == SUREFIT_STATUS_TOO_LARGE);
        EXPECT(surefit_certify(standard, &budget, &certificate) == SUREFIT_STATUS_TOO_LARGE);
    }
    /* The least region. */
    surefit_demand none = {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    surefit_heap *heap;
    EXPECT(surefit_certify(tiny, &none, &certificate) == OK);
    EXPECT(surefit_heap_init(memory + 5, certificate.heap_bytes, tiny, &heap) == OK);
}

/* Within a budget that counts them, and between peaks, resizes are not refused either. */
static void resized(const surefit_config *config, size_t largest, uint32_t objects, size_t align) {
    surefit_demand budget = {NULL, 0, 0, 0, largest, 0, largest, align, 0, 0};
    static size_t aligns[RECORDS];
    uint32_t powers = 0;
    surefit_certificate certificate;
    surefit_heap *heap, *scratch;
    surefit_stats before, after;
    surefit_key probe;
    uint64_t blocks_of[2], bytes_of[2];
    /* The budget of so many objects of the largest size, by an empty heap. */
    EXPECT(surefit_heap_init(memory + 128 * 1024, 128 * 1024, config, &scratch) == OK);
    while ((size_t)1 << powers < align) powers++;
    EXPECT(surefit_alloc(scratch, largest, align, &probe) == OK);
    EXPECT(surefit_stats_get(scratch, &before) == OK && surefit_free(scratch, probe) == OK);
    budget.blocks = objects * before.live_blocks;
    budget.block_bytes = objects * before.block_bytes;
    EXPECT(surefit_certify(config, &budget, &certificate) == OK);
    EXPECT(certificate.heap_bytes <= 128 * 1024);
    for (size_t misaligned = 0; misaligned < 8; misaligned++) {
        uint64_t blocks = 0, bytes = 0;
        memset(keys, 0, sizeof keys);
        EXPECT(surefit_heap_init(memory + misaligned, certificate.heap_bytes, config, &heap) == OK);
        for (int step = 0; step < 600; step++) {
            size_t at = number(2 * objects), length = number((uint32_t)largest + 1);
            bool is_live = surefit_is_live(heap, keys[at]);
            if (!is_live) aligns[at] = (size_t)1 << number(powers + 1);
            /* What the object has, and what it would have. */
            for (int i = 0; i < 2; i++) {
                blocks_of[i] = bytes_of[i] = 0;
                if (i == 0 && !is_live) continue;
                EXPECT(surefit_alloc(scratch, i == 0 ? keys[at].length : length, aligns[at], &probe) == OK);
                EXPECT(surefit_stats_get(scratch, &after) == OK);
                blocks_of[i] = after.live_blocks;
                bytes_of[i] = after.block_bytes;
                EXPECT(surefit_free(scratch, probe) == OK);
            }
            if (is_live && number(3) == 0) {
                EXPECT(surefit_free(heap, keys[at]) == OK);
                blocks -= blocks_of[0];
                bytes -= bytes_of[0];
                continue;
            }
            if (blocks - blocks_of[0] + blocks_of[1] > budget.blocks ||
                bytes - bytes_of[0] + bytes_of[1] > budget.block_bytes)
                continue;
            if (is_live) {
                EXPECT(surefit_resize(heap, &keys[at], length, aligns[at]) == OK);
            } else {
                EXPECT(surefit_alloc(heap, length, aligns[at], &keys[at]) == OK);
            }
            blocks = blocks - blocks_of[0] + blocks_of[1];
            bytes = bytes - bytes_of[0] + bytes_of[1];
        }
        EXPECT(surefit_check(heap, NULL) == OK);
        EXPECT(surefit_stats_get(heap, &after) == OK);
        EXPECT(after.moved_bytes_max <= certificate.moved_bytes_max);
    }
    /* One object, resized between two lengths with a peak each. */
    for (size_t first = 1; first <= largest; first += largest / 7 + 1) {
        const surefit_peak peaks[] = {{first, 0, 1}, {largest - first, 0, 1}};
        surefit_demand both = {peaks, 2, 0, 0, 0, 0, 0, 0, 0, 0};
        EXPECT(surefit_certify(config, &both, &certificate) == OK);
        EXPECT(surefit_heap_init(memory + 3, certificate.heap_bytes, config, &heap) == OK);
        EXPECT(surefit_alloc(heap, first, 0, &probe) == OK);
        for (int step = 0; step < 6; step++)
            EXPECT(surefit_resize(heap, &probe, peaks[(step + 1) % 2].bytes, 0) == OK);
    }
}

/* Objects of any length up to the largest, so many or of so many bytes, are refused nothing in the
 * bytes of their demand; nor is a resize, if it was said. */
static void requested(const surefit_config *config, size_t largest, uint64_t objects, uint64_t bytes) {
    static size_t lengths[RECORDS];
    surefit_demand demand = {NULL, 0, 0, 0, largest, 0, largest, 0, objects, bytes};
    surefit_certificate certificate;
    surefit_heap *heap;
    EXPECT(surefit_certify(config, &demand, &certificate) == OK);
    EXPECT(certificate.heap_bytes < MEMORY_BYTES);
    EXPECT(surefit_heap_init(memory + 1, certificate.heap_bytes, config, &heap) == OK);
    memset(keys, 0, sizeof keys);
    for (int round = 0; round < 60; round++) {
        uint64_t live = 0, sum = 0;
        for (size_t n = 0; n < RECORDS; n++) {
            if (!surefit_is_live(heap, keys[n])) continue;
            if (number(3) != 0) {
                EXPECT(surefit_free(heap, keys[n]) == OK);
                continue;
            }
            live++;
            sum += lengths[n] < 16 ? 16 : lengths[n];
        }
        /* All of one length, or of any. */
        size_t common = number((uint32_t)largest + 1);
        for (size_t n = 0; n < RECORDS; n++) {
            if (surefit_is_live(heap, keys[n])) continue;
            size_t length = round % 3 == 0 ? largest : round % 3 == 1 ? common : number((uint32_t)largest + 1);
            uint64_t counted = length < 16 ? 16 : length;
            if ((objects != 0 && live == objects) || (bytes != 0 && sum + counted > bytes)) break;
            EXPECT(surefit_alloc(heap, length, 0, &keys[n]) == OK);
            lengths[n] = length;
            live++;
            sum += counted;
        }
        for (size_t n = 0; n < RECORDS; n += 7) {
            if (!surefit_is_live(heap, keys[n]) || lengths[n] < 16) continue;
            size_t shorter = 16 + number((uint32_t)(lengths[n] - 15));
            EXPECT(surefit_resize(heap, &keys[n], shorter, 0) == OK);
            lengths[n] = shorter;
        }
    }
}

static void all_requested(void) {
    const surefit_config *of[] = {surefit_config_micro(), surefit_config_tiny()};
    static const size_t largest[] = {1, 32, 33, 256, 257, 300, 1024, 1025, 3333};
    for (size_t i = 0; i < 2; i++)
        for (size_t n = 0; n < sizeof largest / sizeof *largest; n++) {
            for (uint64_t objects = 1; objects <= 27; objects *= 3) requested(of[i], largest[n], objects, 0);
            requested(of[i], largest[n], 0, 3000);
            requested(of[i], largest[n], 20, 8000);
        }
    const surefit_config *tiny = surefit_config_tiny();
    surefit_certificate fewer, more;
    surefit_demand demand = {NULL, 0, 0, 0, 300, 0, 0, 0, UINT64_MAX, 0};
    EXPECT(surefit_certify(tiny, &demand, &more) == SUREFIT_STATUS_DEMAND);
    /* Their bytes limit them, and 100 of up to 300 bytes are more than 3,000 bytes of them. */
    demand.request_bytes = 3000;
    EXPECT(surefit_certify(tiny, &demand, &fewer) == OK);
    demand.objects = 100;
    demand.request_bytes = 0;
    EXPECT(surefit_certify(tiny, &demand, &more) == OK && fewer.heap_bytes < more.heap_bytes);
    demand.request_bytes = UINT64_MAX;
    EXPECT(surefit_certify(tiny, &demand, &fewer) == OK && fewer.heap_bytes == more.heap_bytes);
    demand.align = 16;
    EXPECT(surefit_certify(tiny, &demand, &more) == SUREFIT_STATUS_DEMAND);
    demand.align = 8;
    EXPECT(surefit_certify(tiny, &demand, &more) == OK);
    demand.largest = 0;
    EXPECT(surefit_certify(tiny, &demand, &more) == SUREFIT_STATUS_DEMAND);
    demand.request_bytes = 0;
    EXPECT(surefit_certify(tiny, &demand, &more) == SUREFIT_STATUS_DEMAND);
}

/* A budget of aligned objects is that of their page-blocks; a resize holds one more of the largest. */
static void aligned(void) {
    const surefit_config *tiny = surefit_config_tiny();
    /* The smallest of a size-class that is long enough, and a multiple of 16. */
    enum { LENGTH = 176, BLOCK = 256, OBJECTS = 400 };
    static surefit_key all[OBJECTS];
    surefit_demand budget = {NULL, 0, OBJECTS, OBJECTS * BLOCK, LENGTH, 0, 0, 16, 0, 0};
    surefit_demand resized = {NULL, 0, 0, 0, LENGTH, 0, LENGTH, 16, 0, 0};
    surefit_certificate certificate, other;
    surefit_stats stats;
    surefit_heap *heap;
    EXPECT(surefit_certify(tiny, &budget, &certificate) == OK);
    EXPECT(certificate.heap_bytes <= MEMORY_BYTES);
    EXPECT(surefit_heap_init(memory, certificate.heap_bytes, tiny, &heap) == OK);
    for (int round = 0; round < 3; round++) {
        for (size_t n = 0; n < OBJECTS; n++)
            if (!surefit_is_live(heap, all[n]))
                EXPECT(surefit_alloc(heap, LENGTH, 16, &all[n]) == OK);
        EXPECT(surefit_stats_get(heap, &stats) == OK && stats.block_bytes == OBJECTS * BLOCK);
        for (size_t n = 0; n < OBJECTS; n++)
            if (number(2) == 0) EXPECT(surefit_free(heap, all[n]) == OK);
    }
    EXPECT(surefit_stats_get(heap, &stats) == OK);
    EXPECT(stats.moved_bytes_max == BLOCK && certificate.moved_bytes_max == BLOCK);
    for (uint64_t n = 0; n < 60; n++) {
        /* So many that the bytes are what is scarce. */
        resized.blocks = 8 * n;
        resized.block_bytes = n * BLOCK;
        budget.blocks = 8 * n + 1;
        budget.block_bytes = (n + 1) * BLOCK;
        EXPECT(surefit_certify(tiny, &resized, &certificate) == OK);
        EXPECT(surefit_certify(tiny, &budget, &other) == OK);
        EXPECT(certificate.heap_bytes == other.heap_bytes);
    }
    for (budget.align = 3; budget.align < 8; budget.align += 2)
        EXPECT(surefit_certify(tiny, &budget, &other) == SUREFIT_STATUS_ALIGN);
    budget.align = 2048;
    EXPECT(surefit_certify(tiny, &budget, &other) == SUREFIT_STATUS_ALIGN);
    budget.align = 1024;
    EXPECT(surefit_certify(tiny, &budget, &other) == OK);
}

/* A region of more bytes than an object can have; most of it is never touched. */
static void huge(void) {
    size_t bytes = (size_t)5 << 30;
    surefit_heap *heap;
    void *region;
    if (sizeof(size_t) == 4) return;
    region = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) return;
    EXPECT(surefit_heap_init(region, bytes, surefit_config_standard(), &heap) == OK);
    size_t largest = surefit_largest_free(heap);
    EXPECT(largest > UINT32_MAX - 100000 && largest <= UINT32_MAX);
    EXPECT(surefit_can_alloc(heap, largest, 1));
    EXPECT(munmap(region, bytes) == 0);
}

static void configurations(void) {
    static unsigned char place[8192];
    const surefit_config *config = NULL;
    static const uint32_t block_bytes[] = {16, 24, 40, 128, 512, 520, 1024};
    static const uint32_t wrong[] = {16, 20};
    surefit_options options = {0, 0, 0, 0, 0, 0, 0, 0, 0, NULL};
    EXPECT(surefit_config_bytes() <= sizeof place);
    EXPECT(surefit_config_build(place, 10, &options, &config) == SUREFIT_STATUS_REGION);
    EXPECT(surefit_config_build(NULL, 10, &options, &config) == SUREFIT_STATUS_NULL);
    options.page_bytes = 1000;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == SUREFIT_STATUS_CONFIG);
    options.page_bytes = 4096;
    options.word_bytes = 5;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == SUREFIT_STATUS_CONFIG);
    options.word_bytes = 3;
    options.live_per_hole = 1;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == SUREFIT_STATUS_CONFIG);
    options.live_per_hole = 8;
    options.piece_bytes = 512;
    options.block_sizes = 2;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == SUREFIT_STATUS_NULL);
    options.block_bytes = wrong;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == SUREFIT_STATUS_CONFIG);
    options.block_sizes = 129;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == SUREFIT_STATUS_CONFIG);
    options.large_piece_bytes = 256;
    options.block_sizes = 0;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == SUREFIT_STATUS_CONFIG);
    options.large_piece_bytes = 4096;
    EXPECT(config == NULL);
    EXPECT(surefit_config_build(place + 3, sizeof place - 3, &options, &config) == OK);
    drift(config, 5);
    options.block_sizes = sizeof block_bytes / sizeof block_bytes[0];
    options.block_bytes = block_bytes;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == OK);
    drift(config, 6);
    options = (surefit_options){1024, 2, 4, 1, 0, 0, 64, 0, 0, NULL};
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == OK);
    resized(config, 2000, 4, 0);
    resized(config, 2000, 4, 64);
}

/* A double free of what was merged with its neighbours is found; no size of it is told, and none
 * that exceeds the region of what is inside an object. */
static void raw_twice(surefit_raw *heap) {
    unsigned char *objects[5], *grown;
    for (size_t order = 0; order < 60; order++) {
        for (size_t i = 0; i < 5; i++) objects[i] = surefit_raw_malloc(heap, 100);
        for (size_t i = 0; i < 4; i++) {
            /* Some order of the first four. */
            size_t at = order & 1 ? (i * 3 + order / 2) % 4 : (order / 2 + 4 - i) % 4;
            EXPECT(surefit_raw_free(heap, objects[at]) == OK);
            EXPECT(surefit_raw_usable_size(heap, objects[at]) == 0);
            EXPECT(surefit_raw_free(heap, objects[at]) == SUREFIT_STATUS_STALE);
            EXPECT(surefit_raw_realloc(heap, objects[at], 200) == NULL);
        }
        for (size_t i = 0; i < 4; i++)
            EXPECT(surefit_raw_free(heap, objects[i]) == SUREFIT_STATUS_STALE);
        EXPECT(surefit_raw_free(heap, objects[4]) == OK && surefit_raw_check(heap) == OK);
    }
    for (size_t i = 0; i < 3; i++) objects[i] = surefit_raw_malloc(heap, 100);
    EXPECT(surefit_raw_free(heap, objects[0]) == OK);
    grown = surefit_raw_realloc(heap, objects[1], 5000);
    EXPECT(grown != NULL && grown != objects[1]);
    if (grown != objects[0]) EXPECT(surefit_raw_free(heap, objects[1]) == SUREFIT_STATUS_STALE);
    memset(grown, 0, 5000);
    for (size_t inside = 8; inside < 5000; inside += 8)
        EXPECT(surefit_raw_usable_size(heap, grown + inside) == 0);
    memset(grown, 0xfc, 5000);
    for (size_t inside = 8; inside < 5000; inside += 8)
        EXPECT(surefit_raw_usable_size(heap, grown + inside) == 0);
    EXPECT(surefit_raw_free(heap, grown) == OK && surefit_raw_free(heap, objects[2]) == OK);
    EXPECT(surefit_raw_check(heap) == OK);
}

/* A drifting load of raw pointers, every byte verified, and what a careless caller may do. */
static void raw(uint32_t kind) {
    static unsigned char *objects[RECORDS];
    static size_t lengths[RECORDS];
    static uint64_t zeros[64];
    surefit_raw *heap = NULL;
    EXPECT(surefit_raw_init(NULL, 1000, kind, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_raw_init(memory, 1000, kind, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_raw_init(memory, 100, kind, &heap) == SUREFIT_STATUS_REGION);
    EXPECT(surefit_raw_init(memory, MEMORY_BYTES, 77, &heap) == SUREFIT_STATUS_CONFIG);
    EXPECT(surefit_raw_init(memory, SIZE_MAX, kind, &heap) == SUREFIT_STATUS_TOO_LARGE);
    EXPECT(heap == NULL);
    EXPECT(surefit_raw_init(memory + 3, 256 * 1024, kind, &heap) == OK);
    memset(objects, 0, sizeof objects);
    for (int round = 0; round < 6000; round++) {
        size_t at = number(RECORDS), bytes = number(4) == 0 ? number(6000) : number(200);
        unsigned char mark = (unsigned char)at;
        for (size_t i = 0; objects[at] != NULL && i < lengths[at]; i++)
            EXPECT(objects[at][i] == mark);
        if (objects[at] == NULL || number(2) == 0) {
            unsigned char *moved = surefit_raw_realloc(heap, objects[at], bytes);
            if (moved != NULL) {
                size_t kept = objects[at] == NULL ? 0 : lengths[at] < bytes ? lengths[at] : bytes;
                for (size_t i = 0; i < kept; i++) EXPECT(moved[i] == mark);
                EXPECT(surefit_raw_usable_size(heap, moved) >= bytes);
                EXPECT(((uintptr_t)moved & (sizeof(void *) == 8 && bytes >= 16 ? 15 : 7)) == 0);
                objects[at] = moved;
                lengths[at] = bytes;
                memset(moved, mark, bytes);
            }
        } else {
            EXPECT(surefit_raw_free(heap, objects[at]) == OK);
            objects[at] = NULL;
        }
        if (round % 64 == 0) EXPECT(surefit_raw_check(heap) == OK);
    }
    for (size_t i = 0; i < RECORDS; i++) EXPECT(surefit_raw_free(heap, objects[i]) == OK);

    unsigned char *before = surefit_raw_malloc(heap, 5000), *large = surefit_raw_malloc(heap, 5000);
    unsigned char *after = surefit_raw_calloc(heap, 100, 50);
    for (size_t i = 0; i < 5000; i++) EXPECT(after[i] == 0);
    EXPECT(surefit_raw_free(heap, large) == OK);
    EXPECT(surefit_raw_free(heap, large) == SUREFIT_STATUS_STALE);
    EXPECT(surefit_raw_realloc(heap, large, 10) == NULL);
    EXPECT(surefit_raw_usable_size(heap, large) == 0);
    EXPECT(surefit_raw_free(heap, zeros) == SUREFIT_STATUS_FOREIGN);
    EXPECT(surefit_raw_realloc(heap, zeros, 10) == NULL);
    EXPECT(surefit_raw_malloc(heap, SIZE_MAX) == NULL && surefit_raw_malloc(heap, 1 << 20) == NULL);
    EXPECT(surefit_raw_calloc(heap, SIZE_MAX / 2, 3) == NULL);
    EXPECT(surefit_raw_realloc(heap, before, 1 << 20) == NULL);
    EXPECT(surefit_raw_aligned_alloc(heap, 3, 8) == NULL);
    for (size_t align = 1; align <= 4096; align *= 2) {
        void *object = surefit_raw_aligned_alloc(heap, align, 100);
        EXPECT(object != NULL && ((uintptr_t)object & (align - 1)) == 0);
        EXPECT(surefit_raw_free(heap, object) == OK);
    }
    void *none = surefit_raw_malloc(heap, 0), *other = surefit_raw_malloc(heap, 0);
    EXPECT(none != NULL && other != NULL && none != other);
    EXPECT(surefit_raw_free(heap, none) == OK && surefit_raw_free(heap, other) == OK);
    EXPECT(surefit_raw_free(heap, before) == OK && surefit_raw_free(heap, after) == OK);
    EXPECT(surefit_raw_malloc(NULL, 8) == NULL && surefit_raw_usable_size(NULL, before) == 0);
    EXPECT(surefit_raw_free(NULL, before) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_raw_free((surefit_raw *)(void *)zeros, before) == SUREFIT_STATUS_NOT_A_HEAP);
    EXPECT(surefit_raw_check(heap) == OK && surefit_raw_check(NULL) == SUREFIT_STATUS_NULL);
    if (kind == SUREFIT_RAW_TLSF || kind == SUREFIT_RAW_SEGREGATED) raw_twice(heap);
}

/* The smallest regions of which the header says that they serve an object. */
static void raw_least(uint32_t kind, size_t bytes) {
    surefit_raw *heap;
    for (size_t misaligned = 0; misaligned < 8192; misaligned += 63) {
        EXPECT(surefit_raw_init(memory + misaligned, bytes, kind, &heap) == OK);
        EXPECT(surefit_raw_malloc(heap, 100) != NULL && surefit_raw_check(heap) == OK);
    }
}

/* A raw heap of exactly its certified bytes refuses nothing within the demand, and what exceeds it. */
static void raw_certified(uint32_t kind, size_t largest_block) {
    const surefit_peak peaks[] = {{24, 0, 40}, {largest_block, 8, 5}, {3000, 0, 3}, {5000, 0, 2}};
    static unsigned char *live[4][40];
    size_t bytes = 0;
    surefit_raw *heap = NULL;
    surefit_raw_stats stats;
    EXPECT(surefit_raw_certify(kind, NULL, 4, &bytes) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_raw_certify(kind, peaks, 4, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_raw_certify(SUREFIT_RAW_TLSF, peaks, 4, &bytes) == SUREFIT_STATUS_CONFIG);
    EXPECT(surefit_raw_certify(kind, peaks, 65, &bytes) == SUREFIT_STATUS_DEMAND);
    const surefit_peak odd = {24, 3, 1}, strict = {24, 4096, 1}, huge = {SIZE_MAX, 8, 1};
    EXPECT(surefit_raw_certify(kind, &odd, 1, &bytes) == SUREFIT_STATUS_ALIGN);
    EXPECT(surefit_raw_certify(kind, &strict, 1, &bytes) == SUREFIT_STATUS_ALIGN);
    EXPECT(surefit_raw_certify(kind, &huge, 1, &bytes) == SUREFIT_STATUS_TOO_LARGE);
    EXPECT(bytes == 0 && surefit_raw_certify(kind, peaks, 4, &bytes) == OK);
    EXPECT(surefit_raw_init_certified(memory, bytes / 2, kind, peaks, 4, &heap) ==
           SUREFIT_STATUS_REGION);
    EXPECT(surefit_raw_init_certified(NULL, bytes, kind, peaks, 4, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(heap == NULL);
    for (size_t misaligned = 0; misaligned < 17; misaligned++) {
        memset(live, 0, sizeof live);
        EXPECT(surefit_raw_init_certified(memory + misaligned, bytes, kind, peaks, 4, &heap) == OK);
        for (int round = 0; round < 30; round++) {
            size_t first = number(4);
            for (size_t i = 0; i < 4; i++) {
                const surefit_peak *peak = &peaks[(first + i) % 4];
                for (size_t n = 0; n < peak->objects; n++) {
                    unsigned char **mine = &live[(first + i) % 4][n];
                    if (*mine != NULL) continue;
                    *mine = surefit_raw_malloc(heap, peak->bytes);
                    EXPECT(*mine != NULL);
                    if (*mine != NULL) memset(*mine, 1, peak->bytes);
                }
            }
            EXPECT(surefit_raw_malloc(heap, 3000) == NULL && surefit_raw_malloc(heap, 40) == NULL);
            EXPECT(surefit_raw_malloc(heap, 5001 + 1024) == NULL);
            for (size_t i = 0; i < 4; i++)
                for (size_t n = 0; n < peaks[i].objects; n++)
                    if (number(4) != 0) {
                        EXPECT(surefit_raw_free(heap, live[i][n]) == OK);
                        live[i][n] = NULL;
                    }
        }
        EXPECT(surefit_raw_check(heap) == OK);
        EXPECT(surefit_raw_stats_get(heap, &stats) == OK);
        EXPECT(stats.region_bytes <= bytes &&
               stats.used_bytes + stats.administrative_bytes <= stats.region_bytes);
    }
}

/* A lock of threads that this program only plays: who calls, and who holds it. */
struct lock {
    size_t caller, holder;
    unsigned taken;
    /* Heaps that another thread ends while one waits for the lock. */
    surefit_heap *ends;
    surefit_raw *raw_ends;
};
static void take(void *context) {
    struct lock *lock = context;
    EXPECT(lock->holder == 0);
    lock->holder = lock->caller;
    lock->taken += 1;
}
static void give(void *context) {
    struct lock *lock = context;
    EXPECT(lock->holder == lock->caller);
    lock->holder = 0;
}
static size_t who(void *context) {
    return ((struct lock *)context)->caller;
}
/* The caller waits until thread 1 has ended a heap, whose bytes are then these. */
static unsigned char ended[64 * 1024];
static void take_too_late(void *context) {
    struct lock *lock = context;
    size_t caller = lock->caller;
    surefit_heap *ends = lock->ends;
    surefit_raw *raw_ends = lock->raw_ends;
    lock->ends = NULL;
    lock->raw_ends = NULL;
    lock->caller = 1;
    if (ends) EXPECT(surefit_destroy(ends) == OK);
    if (raw_ends) EXPECT(surefit_raw_destroy(raw_ends) == OK);
    if (ends || raw_ends) memcpy(ended, memory, sizeof ended);
    lock->caller = caller;
    take(context);
}

/* A call without the lock is an answer, and changes nothing. */
static void shared(void) {
    struct lock state_of = {1, 0, 0, NULL, NULL};
    const surefit_lock lock = {&state_of, take, give, who}, half = {&state_of, take, NULL, who};
    surefit_heap *heap = NULL;
    surefit_key key = {0, 0, 0}, none = {0, 0, 0};
    surefit_stats stats;
    void *bytes;
    size_t count;
    uint64_t moved;
    EXPECT(surefit_heap_init(memory, 64 * 1024, surefit_config_tiny(), &heap) == OK);
    EXPECT(surefit_acquire(heap) == SUREFIT_STATUS_UNLOCKED);
    EXPECT(surefit_share(heap, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_share(NULL, &lock) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_share(heap, &half) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_share(heap, &lock) == OK);
    EXPECT(surefit_share(heap, &lock) == SUREFIT_STATUS_LOCKED);
    EXPECT(surefit_alloc(heap, 24, 0, &key) == SUREFIT_STATUS_UNLOCKED && key.name == 0);
    EXPECT(surefit_acquire(heap) == OK && surefit_acquire(heap) == SUREFIT_STATUS_LOCKED);
    EXPECT(surefit_alloc(heap, 24, 0, &key) == OK);
    fill(heap, key, 7);
    /* Another thread calls while the first one holds the lock, and after it. */
    for (int held = 1; held >= 0; held--) {
        state_of.caller = 2;
        EXPECT(surefit_alloc(heap, 24, 0, &none) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_alloc_zeroed(heap, 24, 0, &none) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_get(heap, key, 0, &bytes, &count) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_read(heap, key, 0, &state_of, 1) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_write(heap, key, 0, &state_of, 1) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_resize(heap, &key, 30, 0) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_free(heap, key) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_compact(heap, 1, &moved) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_stats_get(heap, &stats) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_check(heap, NULL) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_walk(heap, NULL, NULL) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_set_limit(heap, 0, &count) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_untouched(heap, &count, &count) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(surefit_destroy(heap) == SUREFIT_STATUS_UNLOCKED);
        EXPECT(!surefit_is_live(heap, key) && !surefit_can_alloc(heap, 1, 1));
        EXPECT(surefit_largest_free(heap) == 0);
        EXPECT(surefit_release(heap) == SUREFIT_STATUS_UNLOCKED);
        state_of.caller = 1;
        if (held) EXPECT(surefit_release(heap) == OK);
    }
    state_of.caller = 0; /* nobody's number */
    unsigned former = state_of.taken;
    EXPECT(surefit_free(heap, key) == SUREFIT_STATUS_UNLOCKED);
    EXPECT(surefit_acquire(heap) == SUREFIT_STATUS_UNLOCKED && state_of.taken == former);
    state_of.caller = 2;
    EXPECT(surefit_acquire(heap) == OK);
    verify(heap, key, 7);
    EXPECT(surefit_free(heap, key) == OK && surefit_check(heap, NULL) == OK);
    EXPECT(surefit_release(heap) == OK && state_of.holder == 0);

    surefit_raw *raw_heap = NULL;
    EXPECT(surefit_raw_init(memory, 64 * 1024, SUREFIT_RAW_TINY, &raw_heap) == OK);
    EXPECT(surefit_raw_share(raw_heap, &half) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_raw_share(raw_heap, &lock) == OK);
    EXPECT(surefit_raw_share(raw_heap, &lock) == SUREFIT_STATUS_LOCKED);
    unsigned before = state_of.taken;
    void *object = surefit_raw_malloc(raw_heap, 24);
    EXPECT(object != NULL && surefit_raw_free(raw_heap, object) == OK);
    EXPECT(surefit_raw_malloc(raw_heap, 1 << 20) == NULL && surefit_raw_check(raw_heap) == OK);
    EXPECT(state_of.taken == before + 4 && state_of.holder == 0);
    object = surefit_raw_malloc(raw_heap, 24);
    state_of.caller = 0;
    before = state_of.taken;
    EXPECT(surefit_raw_malloc(raw_heap, 24) == NULL && surefit_raw_usable_size(raw_heap, object) == 0);
    EXPECT(surefit_raw_free(raw_heap, object) == SUREFIT_STATUS_UNLOCKED);
    EXPECT(surefit_raw_destroy(raw_heap) == SUREFIT_STATUS_UNLOCKED && state_of.taken == before);
    state_of.caller = 3;
    EXPECT(surefit_raw_free(raw_heap, object) == OK && state_of.holder == 0);
}

/* Whoever waits for the lock of a heap that ends gets it, gives it back, and writes nothing. */
static void ended_meanwhile(void) {
    struct lock state_of = {1, 0, 0, NULL, NULL};
    const surefit_lock lock = {&state_of, take_too_late, give, who};
    surefit_heap *heap = NULL;
    surefit_raw *raw_heap = NULL;
    EXPECT(surefit_heap_init(memory, sizeof ended, surefit_config_tiny(), &heap) == OK);
    EXPECT(surefit_share(heap, &lock) == OK && surefit_acquire(heap) == OK);
    state_of.ends = heap;
    state_of.caller = 2;
    EXPECT(surefit_acquire(heap) == SUREFIT_STATUS_NOT_A_HEAP && state_of.holder == 0);
    EXPECT(surefit_acquire(heap) == SUREFIT_STATUS_NOT_A_HEAP && state_of.taken == 2);
    EXPECT(memcmp(ended, memory, sizeof ended) == 0);

    for (int call = 0; call < 4; call++) {
        state_of.caller = 2;
        EXPECT(surefit_raw_init(memory, sizeof ended, SUREFIT_RAW_TLSF, &raw_heap) == OK);
        EXPECT(surefit_raw_share(raw_heap, &lock) == OK);
        void *object = surefit_raw_malloc(raw_heap, 24);
        state_of.raw_ends = raw_heap;
        if (call == 0) EXPECT(surefit_raw_malloc(raw_heap, 24) == NULL);
        if (call == 1) EXPECT(surefit_raw_free(raw_heap, object) == SUREFIT_STATUS_NOT_A_HEAP);
        if (call == 2) EXPECT(surefit_raw_destroy(raw_heap) == SUREFIT_STATUS_NOT_A_HEAP);
        if (call == 3) EXPECT(surefit_raw_usable_size(raw_heap, object) == 0);
        EXPECT(state_of.holder == 0 && state_of.raw_ends == NULL);
        EXPECT(memcmp(ended, memory, sizeof ended) == 0);
    }
}

/* A heap keeps to its limit while that is raised and lowered; its objects keep their bytes. */
static void limited(void) {
    enum { PAGE = 1024, OBJECTS = 400 };
    surefit_heap *heap = NULL;
    surefit_key key;
    size_t reached = 0, first = 0, end = 0, live = 0;
    const surefit_config *tiny = surefit_config_tiny();
    memset(memory, 0xa5, 64 * 1024);
    EXPECT(surefit_heap_init_limited(NULL, 64 * 1024, tiny, 0, 1, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init_limited(memory, 64 * 1024, NULL, 0, 1, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init_limited(memory, 64 * 1024, tiny, 0, 1, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init_limited(memory, 512, tiny, 0, 1, &heap) == SUREFIT_STATUS_REGION);
    EXPECT(surefit_heap_init_limited(memory, 64 * 1024, tiny, 0, SIZE_MAX, &heap) == SUREFIT_STATUS_REGION);
    EXPECT(heap == NULL);
    EXPECT(surefit_heap_init_limited(memory, 64 * 1024, tiny, 4 * PAGE + 1, OBJECTS, &heap) == OK);
    EXPECT(surefit_untouched(heap, &first, &end) == OK && first == 4 * PAGE && end > 40 * PAGE);
    EXPECT(surefit_untouched(NULL, &first, &end) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_untouched(heap, NULL, &end) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_untouched(heap, &first, NULL) == SUREFIT_STATUS_NULL);
    while (surefit_alloc(heap, 60, 0, &keys[live]) == OK) fill(heap, keys[live++], 9);
    EXPECT(surefit_alloc(heap, 60, 0, &key) == SUREFIT_STATUS_NO_MEMORY);
    EXPECT(live > 4 * 12 && live < 4 * 17);
    EXPECT(surefit_set_limit(heap, SIZE_MAX, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_set_limit(NULL, 0, &reached) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_set_limit(heap, 8 * PAGE + 1000, &reached) == OK && reached == 8 * PAGE);
    while (live < 100) {
        EXPECT(surefit_alloc(heap, 60, 0, &keys[live]) == OK);
        fill(heap, keys[live++], 9);
    }
    /* Down to what its objects fill: every second one is freed, and the others move together. */
    for (size_t i = 0; i < live; i += 2) EXPECT(surefit_free(heap, keys[i]) == OK);
    EXPECT(surefit_set_limit(heap, 0, &reached) == OK && reached >= 50 * 60 && reached <= 5 * PAGE);
    EXPECT(surefit_check(heap, NULL) == OK);
    for (size_t i = 1; i < live; i += 2) verify(heap, keys[i], 9);
    EXPECT(surefit_untouched(heap, &first, &end) == OK && first == reached);
    for (size_t at = 8 * PAGE; at < end; at++) EXPECT(memory[at] == 0xa5);
    EXPECT(surefit_set_limit(heap, SIZE_MAX, &reached) == OK);
    EXPECT(surefit_untouched(heap, &first, &end) == OK && first == end && end == reached);
    surefit_heap *whole = NULL;
    EXPECT(surefit_destroy(heap) == OK);
    /* Tables and limit together are exactly as much as the region needs to have. */
    EXPECT(surefit_limited_table_bytes(NULL, 64 * 1024, OBJECTS) == 0);
    EXPECT(surefit_limited_table_bytes(tiny, 1000, OBJECTS) == 0);
    EXPECT(surefit_limited_table_bytes(tiny, 64 * 1024, SIZE_MAX) == 0);
    for (size_t misaligned = 0; misaligned < 1024; misaligned += 93) {
        size_t tables = surefit_limited_table_bytes(tiny, 32 * 1024, OBJECTS);
        EXPECT(tables > OBJECTS * 4 && tables < 8 * 1024);
        EXPECT(surefit_heap_init_limited(memory + misaligned, 32 * 1024, tiny, SIZE_MAX, OBJECTS,
                                         &heap) == OK);
        EXPECT(surefit_set_limit(heap, SIZE_MAX, &reached) == OK);
        EXPECT(reached >= 32 * 1024 - tables);
    }
    EXPECT(surefit_heap_init(memory, 64 * 1024, tiny, &whole) == OK);
    EXPECT(surefit_set_limit(whole, PAGE, &reached) == SUREFIT_STATUS_CONFIG);
    EXPECT(surefit_untouched(whole, &first, &end) == OK && first == end);
}

/* What is destroyed is no heap, and its keys are none of the next heap in the same region. */
static void destroyed(void) {
    surefit_heap *heap = NULL, *next = NULL;
    surefit_key key, new_key;
    void *bytes;
    size_t count;
    EXPECT(surefit_destroy(NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init(memory, 64 * 1024, surefit_config_tiny(), &heap) == OK);
    EXPECT(surefit_alloc(heap, 24, 0, &key) == OK);
    EXPECT(surefit_destroy(heap) == OK);
    EXPECT(surefit_destroy(heap) == SUREFIT_STATUS_NOT_A_HEAP);
    EXPECT(surefit_free(heap, key) == SUREFIT_STATUS_NOT_A_HEAP);
    EXPECT(surefit_alloc(heap, 24, 0, &new_key) == SUREFIT_STATUS_NOT_A_HEAP);
    EXPECT(surefit_heap_init(memory, 64 * 1024, surefit_config_tiny(), &next) == OK);
    EXPECT(surefit_alloc(next, 24, 0, &new_key) == OK);
    EXPECT(surefit_get(next, key, 0, &bytes, &count) == SUREFIT_STATUS_FOREIGN);
    EXPECT(surefit_free(next, key) == SUREFIT_STATUS_FOREIGN);
    struct lock state_of = {1, 0, 0, NULL, NULL};
    const surefit_lock lock = {&state_of, take, give, who};
    EXPECT(surefit_share(next, &lock) == OK);
    EXPECT(surefit_destroy(next) == SUREFIT_STATUS_UNLOCKED);
    EXPECT(surefit_acquire(next) == OK && surefit_destroy(next) == OK && state_of.holder == 0);
    EXPECT(surefit_release(next) == SUREFIT_STATUS_NOT_A_HEAP);

    surefit_raw *raw_heap = NULL;
    EXPECT(surefit_raw_destroy(NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_raw_init(memory, 64 * 1024, SUREFIT_RAW_TINY, &raw_heap) == OK);
    EXPECT(surefit_raw_share(raw_heap, &lock) == OK);
    void *object = surefit_raw_malloc(raw_heap, 24);
    EXPECT(object != NULL && surefit_raw_destroy(raw_heap) == OK && state_of.holder == 0);
    EXPECT(surefit_raw_destroy(raw_heap) == SUREFIT_STATUS_NOT_A_HEAP);
    EXPECT(surefit_raw_malloc(raw_heap, 24) == NULL);
    EXPECT(surefit_raw_free(raw_heap, object) == SUREFIT_STATUS_NOT_A_HEAP);
}

static bool count_block(void *context, surefit_block block) {
    size_t *sum = context;
    sum[0] += 1;
    sum[1] += block.bytes;
    return sum[0] < sum[2];
}

/* All live page-blocks are shown, until the program has seen enough. */
static void walked(void) {
    surefit_heap *heap = NULL;
    surefit_key key;
    size_t all[3] = {0, 0, 100}, some[3] = {0, 0, 5};
    EXPECT(surefit_heap_init(memory, 64 * 1024, surefit_config_tiny(), &heap) == OK);
    for (int i = 0; i < 20; i++) EXPECT(surefit_alloc(heap, 30, 0, &key) == OK);
    EXPECT(surefit_free(heap, key) == OK);
    EXPECT(surefit_walk(heap, NULL, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_walk(NULL, count_block, all) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_walk(heap, count_block, all) == OK && all[0] == 19 && all[1] >= 19 * 30);
    EXPECT(surefit_walk(heap, count_block, some) == OK && some[0] == 5);
}

int main(void) {
    memory = space + (LARGEST_PAGE - (uintptr_t)space % LARGEST_PAGE);
    raw(SUREFIT_RAW_DIRECT);
    raw(SUREFIT_RAW_TLSF);
    raw(SUREFIT_RAW_SEGREGATED);
    raw(SUREFIT_RAW_TINY);
    raw_least(SUREFIT_RAW_DIRECT, 20 * 1024);
    raw_least(SUREFIT_RAW_SEGREGATED, 2048);
    raw_least(SUREFIT_RAW_TINY, 2048);
    raw_least(SUREFIT_RAW_TLSF, 1024);
    raw_certified(SUREFIT_RAW_DIRECT, 2048);
    raw_certified(SUREFIT_RAW_TINY, 128);
    shared();
    ended_meanwhile();
    limited();
    destroyed();
    walked();
    drift(surefit_config_tiny(), 0);
    drift(surefit_config_micro(), 1);
    drift(surefit_config_standard(), 63);
    careless();
    overwritten();
    certified();
    uncertifiable();
    resized(surefit_config_tiny(), 256, 6, 0);
    resized(surefit_config_tiny(), 256, 6, 128);
    resized(surefit_config_tiny(), 1024, 5, 0);
    resized(surefit_config_tiny(), 1024, 5, 1024);
    resized(surefit_config_tiny(), 9000, 3, 0);
    resized(surefit_config_tiny(), 9000, 3, 512);
    all_requested();
    aligned();
    huge();
    configurations();
    EXPECT(moves > 1000);
    for (int status = SUREFIT_STATUS_OK; status <= SUREFIT_STATUS_LOCKED; status++)
        EXPECT(strlen(surefit_strerror(status)) > 3);
    EXPECT(strcmp(surefit_strerror(-1), surefit_strerror(1000)) == 0);
    printf("%d failures\n", failures);
    return failures != 0;
}
