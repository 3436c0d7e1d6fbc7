/* A heap that is told its slack refuses nothing within its demand, in any region that has room for it, and moves less the larger that
 * is. */
#include "surefit.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures += 1;                                                                         \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
        }                                                                                          \
    } while (0)

#define OK SUREFIT_STATUS_OK

/* At a multiple of the page. */
enum { MEMORY_BYTES = 1 << 20, PAGE = 2048 };
static unsigned char space[MEMORY_BYTES + PAGE];
static unsigned char *memory;

enum { OBJECTS = 400, LARGEST = 500, BYTES = 40000 };
static const surefit_demand demand = {NULL, 0, 0, 0, LARGEST, 20000, 0, 0, OBJECTS, BYTES};
static surefit_key keys[OBJECTS];
static size_t lengths[OBJECTS];

/* Numbers that look random, the same in every run. */
static uint32_t state;
static uint32_t number(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

/* A configuration, with a bound in holes if `pages` is 0. */
static const surefit_config *configuration(uint32_t word_bytes, uint32_t pages) {
    static unsigned char place[SUREFIT_CONFIG_BYTES];
    surefit_options options = {0};
    const surefit_config *config = NULL;
    options.page_bytes = PAGE;
    options.word_bytes = word_bytes;
    options.not_full_pages = pages;
    EXPECT(surefit_config_build(place, sizeof place, &options, &config) == OK);
    return config;
}

/* Fills the demand in many ways, with objects of a length or of any; returns the moves. */
static uint64_t drive(surefit_heap *heap) {
    surefit_stats stats;
    size_t live = 0, sum = 0;
    uint32_t frees = 0;
    state = 2463534242u;
    memset(keys, 0, sizeof keys);
    for (int round = 0; round < 80; round++) {
        for (size_t n = 0; n < OBJECTS; n++) {
            if (!surefit_is_live(heap, keys[n]) || number(3) == 0) continue;
            EXPECT(surefit_free(heap, keys[n]) == OK);
            frees++;
            live--;
            sum -= lengths[n] < 16 ? 16 : lengths[n];
        }
        size_t common = number(LARGEST + 1);
        for (size_t n = 0; n < OBJECTS; n++) {
            if (surefit_is_live(heap, keys[n])) continue;
            size_t length = round % 2 == 0 ? common : number(LARGEST + 1);
            size_t counted = length < 16 ? 16 : length;
            if (live == OBJECTS || sum + counted > BYTES) break;
            EXPECT(surefit_alloc(heap, length, 0, &keys[n]) == OK);
            lengths[n] = length;
            live++;
            sum += counted;
        }
        if (round % 10 == 0) EXPECT(surefit_check(heap, NULL) == OK);
    }
    EXPECT(surefit_stats_get(heap, &stats) == OK && frees < demand.frees && frees > 5000);
    EXPECT(surefit_destroy(heap) == OK);
    return stats.moves;
}

/* The least region in which the demand needs no hole: with less, there is no slack. */
static size_t least_region(const surefit_config *config) {
    size_t slack = 1, too_few = 0, least = MEMORY_BYTES;
    EXPECT(surefit_slack_bytes(config, &demand, least, &slack) == OK);
    while (least - too_few > 1) {
        size_t middle = too_few + (least - too_few) / 2;
        surefit_status answer = surefit_slack_bytes(config, &demand, middle, &slack);
        EXPECT(answer == OK || answer == SUREFIT_STATUS_REGION);
        if (answer == OK) least = middle;
        else too_few = middle;
    }
    return least;
}

/* The moves in a region of so many bytes, with the slack that it has room for. */
static uint64_t moves_in(const surefit_config *config, size_t bytes) {
    surefit_heap *heap = NULL;
    size_t slack;
    EXPECT(surefit_slack_bytes(config, &demand, bytes, &slack) == OK);
    EXPECT(surefit_heap_init_with_slack(memory, bytes, config, slack, &heap) == OK);
    return drive(heap);
}

static void more_memory_is_fewer_moves(uint32_t word_bytes) {
    const surefit_config *config = configuration(word_bytes, 0);
    surefit_certificate certificate;
    surefit_heap *heap = NULL;
    size_t slack = 0, least = least_region(config);
    EXPECT(surefit_certify(config, &demand, &certificate) == OK);
    EXPECT(least < certificate.aligned_bytes);
    EXPECT(surefit_heap_init(memory, certificate.aligned_bytes, config, &heap) == OK);
    uint64_t untold = drive(heap);
    uint64_t told = moves_in(config, certificate.aligned_bytes), last = UINT64_MAX;
    EXPECT(untold > 4000 && 3 * told < 2 * untold);
    /* Up to half as many bytes again as are certified. */
    for (size_t bytes = least; 2 * bytes < 3 * certificate.aligned_bytes; bytes += 3 * PAGE + 1) {
        uint64_t moves = moves_in(config, bytes);
        EXPECT(moves < last);
        last = moves;
    }
    EXPECT(20 * last < untold);
    EXPECT(surefit_slack_bytes(config, &demand, MEMORY_BYTES, &slack) == OK && slack == SIZE_MAX / 2);
    EXPECT(moves_in(config, MEMORY_BYTES) == 0);
}

/* A bound in not-full pages: there is no slack, and the heap is as without. */
static void a_bound_in_pages_lends_nothing(void) {
    const surefit_config *config = configuration(2, 1);
    surefit_certificate certificate;
    surefit_heap *heap = NULL;
    size_t slack = 1;
    EXPECT(surefit_certify(config, &demand, &certificate) == OK);
    EXPECT(least_region(config) == certificate.aligned_bytes);
    EXPECT(surefit_slack_bytes(config, &demand, MEMORY_BYTES, &slack) == OK && slack == 0);
    EXPECT(surefit_heap_init(memory, certificate.aligned_bytes, config, &heap) == OK);
    uint64_t untold = drive(heap);
    EXPECT(surefit_heap_init_with_slack(memory, certificate.aligned_bytes, config, 5000, &heap) == OK);
    EXPECT(untold > 0 && drive(heap) == untold);
}

static void misuse_is_an_answer(void) {
    const surefit_config *config = configuration(2, 0);
    surefit_demand too_much = demand;
    surefit_heap *heap = NULL;
    size_t slack = 7;
    too_much.largest = 0;
    EXPECT(surefit_slack_bytes(NULL, &demand, MEMORY_BYTES, &slack) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_slack_bytes(config, NULL, MEMORY_BYTES, &slack) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_slack_bytes(config, &demand, MEMORY_BYTES, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_slack_bytes(config, &too_much, MEMORY_BYTES, &slack) == SUREFIT_STATUS_DEMAND);
    EXPECT(surefit_slack_bytes(config, &demand, 0, &slack) == SUREFIT_STATUS_REGION);
    EXPECT(surefit_heap_init_with_slack(NULL, PAGE, config, 0, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init_with_slack(memory, MEMORY_BYTES, NULL, 0, &heap) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init_with_slack(memory, MEMORY_BYTES, config, 0, NULL) == SUREFIT_STATUS_NULL);
    EXPECT(surefit_heap_init_with_slack(memory, 10, config, 0, &heap) == SUREFIT_STATUS_REGION);
    EXPECT(slack == 7 && heap == NULL);
}

int main(void) {
    memory = space + (PAGE - (uintptr_t)space % PAGE) % PAGE;
    for (uint32_t word_bytes = 2; word_bytes <= 4; word_bytes++) more_memory_is_fewer_moves(word_bytes);
    a_bound_in_pages_lends_nothing();
    misuse_is_an_answer();
    printf("%d failures\n", failures);
    return failures != 0;
}
