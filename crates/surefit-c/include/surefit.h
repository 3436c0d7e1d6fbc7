/* surefit: heaps whose time and space are known before the program runs.
 *
 * A heap lives in a region that the caller gives, and names objects by keys. It moves objects when
 * one is freed, so that fragmentation keeps a bound: ask for the address of an object again after
 * every call that frees or resizes one. No call uses other memory than the region.
 *
 * A heap that two threads or interrupts use has a lock of the caller: surefit_share, surefit_raw_share. Without one, no
 * function is safe to call for one heap from two threads at once. Heaps are independent of each other. Every function checks its arguments; what it refuses changes nothing, and writes to no
 * output. "O(1)" bounds instructions; copied bytes are counted apart.
 *
 * Written by cbindgen from the sources of surefit-c; a test keeps it current. */

#ifndef SUREFIT_H
#define SUREFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUREFIT_VERSION_MAJOR 0
#define SUREFIT_VERSION_MINOR 1
#define SUREFIT_VERSION_PATCH 0

// The bytes of memory that surefit_config_build needs at most, on any machine.
#define SUREFIT_CONFIG_BYTES 4096

// The bytes of memory that surefit_config_build needs at most, on any machine, of a library
// without the feature `many-classes`.
#define SUREFIT_SMALL_CONFIG_BYTES 1280

// The bytes of a region that a heap's control structure takes at most, on any machine.
#define SUREFIT_CONTROL_BYTES 512

// The most lines of a demand on a certified raw heap.
#define SUREFIT_RAW_PEAKS_MAX 64

// A kind of heap: pages of size-classes, and runs of 1 KiB units for objects over 2 KiB. The
// fastest, for regions of 64 KiB and more.
#define SUREFIT_RAW_DIRECT 0

// A kind of heap: Two-Level Segregated Fit.
#define SUREFIT_RAW_TLSF 1

// A kind of heap: segregated lists of exact sizes, found through a Next Hit Table.
#define SUREFIT_RAW_SEGREGATED 2

// A kind of heap: as DIRECT, with pages of 512 bytes and units of 64, for regions of 2 KiB and
// more; page-blocks serve up to 128 bytes.
#define SUREFIT_RAW_TINY 3

// What a call answers. Every other answer than `SUREFIT_STATUS_OK` means that nothing has changed,
// and that no output was written.
typedef enum surefit_status {
  // The call did what it was asked.
  SUREFIT_STATUS_OK = 0,
  // A pointer is NULL that must not be.
  SUREFIT_STATUS_NULL,
  // The pointer is not that of a heap, or the heap was overwritten.
  SUREFIT_STATUS_NOT_A_HEAP,
  // The region is too small for this configuration: see surefit_certify.
  SUREFIT_STATUS_REGION,
  // The configuration is not possible, or its words were not compiled in.
  SUREFIT_STATUS_CONFIG,
  // The alignment is not a power of two, or stricter than a page.
  SUREFIT_STATUS_ALIGN,
  // The size is more than this heap can ever serve, whatever is freed: more than the
  // region, or than a page if the heap has no pieces.
  SUREFIT_STATUS_TOO_LARGE,
  // No page is left for the request: the demand is larger than the region was certified for.
  // Frees may help.
  SUREFIT_STATUS_NO_MEMORY,
  // No entry is left for another object, and no page for more entries.
  SUREFIT_STATUS_NO_ENTRY,
  // The key names no live object: it was freed or resized before.
  SUREFIT_STATUS_STALE,
  // The key is that of another heap.
  SUREFIT_STATUS_FOREIGN,
  // The range ends after the object.
  SUREFIT_STATUS_RANGE,
  // The demand has no certificate in this configuration.
  SUREFIT_STATUS_DEMAND,
  // An invariant of the heap does not hold: memory was overwritten.
  SUREFIT_STATUS_CORRUPT,
  // More heaps were made in this process than can be numbered.
  SUREFIT_STATUS_HEAPS,
  // The heap is shared, and this thread does not hold its lock.
  SUREFIT_STATUS_UNLOCKED,
  // This thread holds the lock already, or the heap has one already.
  SUREFIT_STATUS_LOCKED
} surefit_status;

// A configuration: pages, size-classes, words, the bound on fragmentation, pieces. It never
// changes, and must stay where it is as long as a heap uses it.
typedef struct surefit_config surefit_config;

// A heap in a region.
typedef struct surefit_heap surefit_heap;

// A heap of raw pointers in a region.
typedef struct surefit_raw surefit_raw;

// The most objects of one size that are live at once.
typedef struct surefit_peak {
  // Bytes of such a request.
  size_t bytes;
  // Its alignment; 0 means 8.
  size_t align;
  // How many are live at once, at most.
  uint32_t objects;
} surefit_peak;

// What a program has live at most: peaks of sizes, each on its own, or a budget in any mix of
// sizes, or both at once: then they are added up, to a budget.
typedef struct surefit_demand {
  // The peaks; NULL if there are none.
  const struct surefit_peak *peaks;
  // How many peaks there are.
  size_t peak_count;
  // Budget: the most page-blocks live at once, besides those of the peaks. With peaks, 0 means
  // that there is no budget.
  uint64_t blocks;
  // Budget: the most bytes of these page-blocks. The page-block of an object is the smallest of
  // a size-class that holds it and is a multiple of its alignment, if that is more than 8.
  uint64_t block_bytes;
  // Budget: the largest request in bytes; 0 if any size is requested.
  size_t largest;
  // The most objects that are freed or resized in the life of the heap; 0 if fewer than 4
  // billion for each key's entry. Entries of which all generations are used up cost their bytes.
  uint64_t frees;
  // Budget: the largest length that an object has before or after a resize; 0 if surefit_resize
  // is not called. A resize holds the old page-blocks and the new ones at once; blocks and
  // block_bytes count only the larger of both. Peaks need no such number: a resize within their
  // classes counts at both lengths, if both have a peak.
  size_t resized_largest;
  // Budget: the strictest alignment of a request; 0 means 8.
  size_t align;
  // Budget, in requests instead of page-blocks: the most objects live at once, each of up to
  // `largest` bytes, which must be given. Their page-blocks are added to blocks and block_bytes.
  // 0: no such objects, or any number of them with request_bytes.
  uint64_t objects;
  // The most bytes of these objects together, as they are requested, each at least 16; 0 if only
  // their number is limited. Not with a stricter alignment than 8.
  uint64_t request_bytes;
} surefit_demand;

// The bytes that are enough for a demand, and the most work of one call.
typedef struct surefit_certificate {
  // Bytes of a region that are enough, wherever it begins, the control structure included.
  size_t heap_bytes;
  // Bytes that are enough if the region begins at a multiple of the page.
  size_t aligned_bytes;
  // Pages that the demand can fill.
  uint64_t pages;
  // Entries that it can need at once.
  uint64_t entries;
  // The most moves that the free of one page-block makes.
  uint32_t moves_max;
  // The most bytes that these moves copy.
  uint64_t moved_bytes_max;
} surefit_certificate;

// What a configuration is built from. Zero stands for the default of each member.
typedef struct surefit_options {
  // Bytes of a page: a power of two from 1024 to 65536. Default 16384.
  uint32_t page_bytes;
  // Bytes of a word: 2 for heaps of up to 1 MiB, 3 up to 128 MiB, 4 up to 32 GiB. Default 4.
  uint32_t word_bytes;
  // Sizes of page-blocks in each power of two, from 1 to 64. Default 8.
  uint32_t sizes_per_power_of_two;
  // The most not-full pages of a size-class (the papers' kappa). 0: the bound is in holes.
  uint32_t not_full_pages;
  // Free page-blocks of a size-class that are always allowed. Default 4.
  uint32_t holes;
  // One more is allowed for each so many live ones, at least 2. Default 16.
  uint32_t live_per_hole;
  // Objects of more bytes lie in pieces of this size: a power of two from 64 to a page. Default
  // a quarter of a page. UINT32_MAX: no object is in pieces; none is larger than a page.
  uint32_t piece_bytes;
  // The first pieces of an object that is as long have this size, the rest the one above: a
  // power of two up to a page. Default piece_bytes, or a page if that is 0.
  uint32_t large_piece_bytes;
  // How many sizes of page-blocks block_bytes has. Default 0: sizes_per_power_of_two says them.
  uint32_t block_sizes;
  // The sizes of page-blocks in bytes, ascending multiples of 8; a page is added if it is
  // missing. At most 128, the page included, or 32 without the feature `many-classes`.
  const uint32_t *block_bytes;
} surefit_options;

// The caller's lock: a mutex, or what keeps interrupts out. Its functions must not use the heap,
// and must return: no longjmp, no exception.
typedef struct surefit_lock {
  // Handed to the three functions.
  void *context;
  // Takes the lock, and waits until it is free. Must not be NULL.
  void (*acquire)(void *context);
  // Gives the lock back. Must not be NULL.
  void (*release)(void *context);
  // A number of the thread or interrupt that calls: whoever holds the lock is told from all
  // others by it. The number 0 is nobody's: whoever has it is answered UNLOCKED, and the lock is
  // not taken. Where the number is the address of a task that is NULL before the scheduler
  // starts, give another number then, such as 1. Must not be NULL.
  size_t (*caller)(void *context);
} surefit_lock;

// The name of an object. It may be copied; it is stale once its object is freed or resized. All
// zeros are never a key.
typedef struct surefit_key {
  // The object and its heap.
  uint64_t name;
  // How often the name was given before, exclusive or the length: a key of which one of both was
  // changed is stale.
  uint32_t generation;
  // The length of the object, in bytes.
  uint32_t length;
} surefit_key;

// The account of a raw heap's bytes.
typedef struct surefit_raw_stats {
  // Bytes of the region, less the control structure.
  size_t region_bytes;
  // Bytes of objects, each rounded up as the heap does it.
  size_t used_bytes;
  // Bytes that tables and headers take, and bytes around the region's units.
  size_t administrative_bytes;
} surefit_raw_stats;

// Counters of a heap, and the account of its bytes.
typedef struct surefit_stats {
  // Page-blocks in use. An object in pieces has several.
  uint32_t live_blocks;
  // Pages of all size-classes.
  uint32_t pages;
  // Not-full pages of all size-classes.
  uint32_t not_full_pages;
  // Pages that are free, once used or never.
  uint32_t free_pages;
  // Entries whose generations are used up.
  uint32_t retired_keys;
  // Page-blocks moved since the heap was made.
  uint64_t moves;
  // Bytes that these moves copied.
  uint64_t moved_bytes;
  // The most bytes that the free of one page-block copied.
  uint64_t moved_bytes_max;
  // Bytes of page-blocks in use.
  size_t block_bytes;
  // Bytes of pages that are free.
  size_t free_page_bytes;
  // Bytes that the heap needs for itself.
  size_t administrative_bytes;
} surefit_stats;

// A live page-block. An object in pieces has several.
typedef struct surefit_block {
  // The number of its entry.
  uint32_t entry;
  // Its bytes: those of the object, rounded up to its size-class.
  uint32_t bytes;
} surefit_block;

// An invariant that does not hold.
typedef struct surefit_fault {
  // The invariant's letter and number, such as "P2", ended by a zero.
  char invariant[8];
  // Where: a page, an entry or a class, as the invariant says.
  size_t at;
} surefit_fault;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Computes how large a region must be, so that surefit_alloc and surefit_resize refuse nothing
// within the demand, in any order of calls, as long as no resize changes an alignment. It needs no
// heap: call it in a program for the host, or when you start; on a 32-bit processor it takes
// 8.5 KiB of stack. A demand of zeros: the smallest
// region that surefit_heap_init accepts.
//
// Answers NULL, CONFIG, ALIGN and TOO_LARGE where surefit_alloc answers so to the request in every
// heap, DEMAND if no heap of this configuration serves it, or an object is resized that is larger
// than the largest. Time for a budget: some 600 passes over the size-classes.
//
// # Safety
// Each pointer is NULL or leads to what it says.
enum surefit_status surefit_certify(const struct surefit_config *config,
                                    const struct surefit_demand *demand,
                                    struct surefit_certificate *certificate);

// Does nothing. Only a library with the feature `pieces` has it: what was certified for objects in
// pieces calls it, so that it does not link with a library in which they need more bytes.
void surefit_has_pieces(void);

// For regions of up to 32 KiB: pages of 1 KiB, six sizes of page-blocks, words of two bytes, one
// move per free at most.
const struct surefit_config *surefit_config_micro(void);

// For regions of 32 KiB to 1 MiB: pages of 1 KiB, words of two bytes, one move per free at most.
const struct surefit_config *surefit_config_tiny(void);

// For larger regions: pages of 16 KiB, words of four bytes, the bound in holes, two moves per free
// at most. A library built without the features `holes` and `many-classes` does not have this
// function.
const struct surefit_config *surefit_config_standard(void);

// The bytes that surefit_config_build needs, wherever they lie. O(1).
size_t surefit_config_bytes(void);

// Builds a configuration in the caller's memory, of at least surefit_config_bytes() bytes. O(1):
// some ten thousand instructions.
//
// Answers NULL, also for sizes of page-blocks that are NULL, REGION for too little memory, CONFIG
// for options that are not possible.
//
// # Safety
// The memory is the caller's, for as long as a heap uses the configuration. The sizes of
// page-blocks are as many as said, at any address, until the call returns.
enum surefit_status surefit_config_build(void *memory,
                                         size_t bytes,
                                         const struct surefit_options *options,
                                         const struct surefit_config **config);

// Makes a heap in a region, whatever its contents, wherever it begins. The heap is in the region:
// once it is not used any more, the region may be used otherwise. See surefit_destroy.
//
// Answers NULL, CONFIG, REGION if it is too small (surefit_certify computes what a demand needs,
// and the least for a demand of zeros), TOO_LARGE if it has more pages than the configuration's
// words can name, HEAPS. O(classes), and 16 bytes written per page. Heaps are numbered, 4 billion
// in a process. On a processor without compare-and-exchange, two calls at the same time (one
// interrupts the other, or runs on another core) may use the numbers up: both answers and all
// later ones are HEAPS.
//
// # Safety
// The region has so many bytes, which nothing else uses as long as the heap is used; the
// configuration stays as long.
enum surefit_status surefit_heap_init(void *region,
                                      size_t bytes,
                                      const struct surefit_config *config,
                                      struct surefit_heap **heap);

// Ends a heap and all its objects at once. From now on every call for it answers NOT_A_HEAP, and
// its keys are FOREIGN to every later heap, also one in the same region. The lock of a shared
// heap, which the thread must hold, is given back. Threads that wait for it in surefit_acquire are
// answered NOT_A_HEAP; until they are, the region and the lock must stay as they are.
//
// Answers NULL, NOT_A_HEAP (also the second time), UNLOCKED. O(1).
//
// # Safety
// As surefit_alloc.
enum surefit_status surefit_destroy(struct surefit_heap *heap);

// Lets threads or interrupts share a heap by a lock of the caller. From now on every call for the
// heap answers UNLOCKED unless the thread holds the lock: see surefit_acquire. Call it before
// other threads use the heap.
//
// Answers NULL (also for a function that is NULL), NOT_A_HEAP, LOCKED if the heap has a lock.
// O(1).
//
// # Safety
// As surefit_alloc; the functions can be called with their context as long as the heap is used.
enum surefit_status surefit_share(struct surefit_heap *heap, const struct surefit_lock *lock);

// Takes the lock of a shared heap. The addresses that surefit_get gives are good at most until
// surefit_release: then other threads free, and objects move. An interrupt may use the heap if
// `acquire` keeps it out.
//
// Answers NULL, NOT_A_HEAP (also if another thread ended the heap meanwhile), UNLOCKED if the heap
// has no lock or `caller` answers 0, LOCKED if the thread holds it; then the lock is not held.
// O(1), and the time of `acquire`.
//
// # Safety
// As surefit_alloc.
enum surefit_status surefit_acquire(struct surefit_heap *heap);

// Gives the lock of a shared heap back.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED if the thread does not hold it. O(1), and the time of
// `release`.
//
// # Safety
// As surefit_alloc.
enum surefit_status surefit_release(struct surefit_heap *heap);

// Allocates an object of some bytes, which are not initialised. No object moves. An alignment of 0
// means 8. A size of 0 is served: the object has a key and no byte.
//
// An object of more bytes than the configuration's pieces is not contiguous; the alignment applies
// to each piece. No object is longer than UINT32_MAX bytes or, where none is in pieces, than a
// page.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, ALIGN, TOO_LARGE, NO_MEMORY, NO_ENTRY. O(1), or O(pieces).
//
// # Safety
// The heap is NULL or came from surefit_heap_init; the key is NULL or the caller's.
enum surefit_status surefit_alloc(struct surefit_heap *heap,
                                  size_t bytes,
                                  size_t align,
                                  struct surefit_key *key);

// As surefit_alloc; the bytes are zero. O(bytes).
//
// # Safety
// As surefit_alloc.
enum surefit_status surefit_alloc_zeroed(struct surefit_heap *heap,
                                         size_t bytes,
                                         size_t align,
                                         struct surefit_key *key);

// The bytes of an object from an offset on, as far as they lie together: to the end of the object,
// or of its piece. The pointer is good until any object of the heap is freed, resized or
// compacted; an allocation does not move objects. At the end of the object there are 0 bytes.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE, FOREIGN, RANGE. O(1); in pieces O(levels): the pieces
// of an object are found through words that are in pieces themselves, if there are many. See
// surefit_options.
//
// # Safety
// As surefit_alloc; the key came from a call of this library, or is all zeros.
enum surefit_status surefit_get(struct surefit_heap *heap,
                                struct surefit_key key,
                                size_t offset,
                                void **first,
                                size_t *count);

// Copies bytes of an object, from an offset on, to the caller's memory. No byte may be copied to
// NULL.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE, FOREIGN, RANGE. O(bytes), and O(levels) per piece.
//
// # Safety
// As surefit_get; the target has so many bytes, outside the heap.
enum surefit_status surefit_read(const struct surefit_heap *heap,
                                 struct surefit_key key,
                                 size_t offset,
                                 void *target,
                                 size_t count);

// Copies bytes of the caller's memory to an object, from an offset on. No byte may be copied from
// NULL.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE, FOREIGN, RANGE. O(bytes), and O(levels) per piece.
//
// # Safety
// As surefit_get; the source has so many bytes, outside the heap.
enum surefit_status surefit_write(struct surefit_heap *heap,
                                  struct surefit_key key,
                                  size_t offset,
                                  const void *source,
                                  size_t count);

// Changes the length of an object, and its alignment: from now on it has the one of this call,
// where 0 means 8, also if that is looser. Give an object that surefit_alloc aligned its alignment
// again. The bytes up to the smaller length are kept; more bytes are not initialised. The key is
// replaced by a new one; copies of the former are stale. May move two other objects per page-block
// that is freed.
//
// Old and new page-blocks are live at once: those of an object that is not in pieces, and of the
// last piece of one that is. An object in pieces is copied as a whole, with room for both, if its
// alignment changes so that its pieces need other page-blocks. Even a shorter length may be
// refused then. surefit_certify counts what a resize without another alignment needs:
// resized_largest of surefit_demand.
//
// Answers as surefit_alloc, STALE, FOREIGN; then the object and the key are as they were. O(1) and
// a copy of the object; in pieces O(pieces that are added or freed) and a copy of one piece, or
// O(pieces) and a copy of the object as said above.
//
// # Safety
// As surefit_get; the key is NULL or the caller's.
enum surefit_status surefit_resize(struct surefit_heap *heap,
                                   struct surefit_key *key,
                                   size_t bytes,
                                   size_t align);

// Frees an object. Moves at most two other objects per page-block, so that fragmentation keeps its
// bound: pointers into objects are stale, keys are not.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, STALE (a double free), FOREIGN. O(1) and copies of at most
// two page-blocks; in pieces the same per piece.
//
// # Safety
// As surefit_get.
enum surefit_status surefit_free(struct surefit_heap *heap, struct surefit_key key);

// Whether a key names a live object of this heap; false where surefit_get answers that it may not
// be called. O(1).
//
// # Safety
// As surefit_get.
bool surefit_is_live(const struct surefit_heap *heap, struct surefit_key key);

// Moves at most `budget` page-blocks together, until each size-class has at most one page that is
// not full. Writes how many it moved, unless `moves` is NULL.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED. O(budget), and as many copies of page-blocks.
//
// # Safety
// As surefit_alloc.
enum surefit_status surefit_compact(struct surefit_heap *heap, uint64_t budget, uint64_t *moves);

// Whether an object of these bytes can be allocated now; false where surefit_alloc refuses for
// another reason than room, also for a thread without the lock. O(1), or O(levels of its pieces).
//
// # Safety
// As surefit_alloc.
bool surefit_can_alloc(const struct surefit_heap *heap, size_t bytes, size_t align);

// A size that can be allocated now with an alignment of 1: the largest contiguous one or, if more
// fits in pieces, the most whole pieces that a binary search finds, up to UINT32_MAX bytes. 0
// without a heap, and for a thread without the lock. O(classes + log region).
//
// # Safety
// As surefit_alloc.
size_t surefit_largest_free(const struct surefit_heap *heap);

// As surefit_heap_init, of a heap that may use only the whole pages in the first `limit` bytes of
// its region, and the tables at the region's end: with entries for `objects` objects at once, all
// pieces of long ones counted. It touches no byte between these: see surefit_untouched.
//
// A demand is served while the limit has at least the certificate's pages, and `objects` is at
// least its entries.
//
// Answers as surefit_heap_init; REGION if it is shorter than a page and
// surefit_limited_table_bytes. O(classes), and 16 bytes written per page of the region.
//
// # Safety
// As surefit_heap_init.
enum surefit_status surefit_heap_init_limited(void *region,
                                              size_t bytes,
                                              const struct surefit_config *config,
                                              size_t limit,
                                              size_t objects,
                                              struct surefit_heap **heap);

// The bytes at the end of a region of `bytes` bytes that a heap of surefit_heap_init_limited
// always uses, with entries for `objects` objects: tables, entries and the control structure,
// wherever the region begins. 0 if the region is too short for them and a page, and without a
// configuration. O(1).
//
// # Safety
// The configuration is NULL, or one of this library.
size_t surefit_limited_table_bytes(const struct surefit_config *config,
                                   size_t bytes,
                                   size_t objects);

// Raises or lowers the limit of a heap to `bytes`, rounded down to whole pages, as far as it can:
// up to the heap's tables, and down to the pages that have objects: surefit_compact makes these
// fewer. What lies in the last pages moves to free ones. Writes the limit that it reached.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, CONFIG if the heap was made without a limit. Raising is
// O(1); lowering is O(1) per page that it takes away and per page-block that it moves, and moves
// at most as many bytes as it takes away.
//
// # Safety
// The heap is NULL or came from surefit_heap_init_limited; the other pointer is NULL or the
// caller's.
enum surefit_status surefit_set_limit(struct surefit_heap *heap, size_t bytes, size_t *reached);

// Writes the first and the last offset, plus one, of the bytes of the region that the heap does
// not touch now: those between its limit and its tables. Two equal ones if there are none, as for
// a heap without a limit. This memory may be off.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED. O(1).
//
// # Safety
// As surefit_set_limit.
enum surefit_status surefit_untouched(const struct surefit_heap *heap, size_t *first, size_t *end);

// Defined by the program. Does not return.
extern void surefit_panicked(void);

// Computes how large a region must be for surefit_raw_init_certified. Each peak is a request of
// malloc, or with an alignment of aligned_alloc, and the most such objects that are live at once;
// a realloc that moves its object counts twice. DIRECT: up to 2 KiB (TINY: 128 bytes), a peak
// counts for the size-class of its request, and a class without a peak is refused. Above, a peak
// counts for all requests that are longer than the next shorter peak. Alignments are at most 1 KiB
// (TINY: 64 bytes).
//
// Answers NULL, CONFIG for another kind than DIRECT and TINY, DEMAND for over 64 peaks, ALIGN,
// TOO_LARGE. O(peaks squared).
//
// # Safety
// There are so many peaks; each pointer is NULL or leads to what it says.
enum surefit_status surefit_raw_certify(uint32_t kind,
                                        const struct surefit_peak *peaks,
                                        size_t peak_count,
                                        size_t *heap_bytes);

// Makes a heap of raw pointers that refuses nothing within a demand, in any order of calls, and
// what exceeds it: pages and the places of larger objects are pools of their own. For peaks see
// surefit_raw_certify; they are read only now.
//
// Answers NULL, CONFIG, DEMAND, ALIGN, TOO_LARGE, REGION if the region is smaller than
// surefit_raw_certify says. O(tables).
//
// # Safety
// As surefit_raw_init and surefit_raw_certify.
enum surefit_status surefit_raw_init_certified(void *region,
                                               size_t bytes,
                                               uint32_t kind,
                                               const struct surefit_peak *peaks,
                                               size_t peak_count,
                                               struct surefit_raw **raw);

// Makes a heap of raw pointers of a kind (SUREFIT_RAW_…) in a region, whatever its contents,
// wherever it begins. Once it is not used any more, the region may be used otherwise. See
// surefit_raw_destroy. Objects of up to 100 bytes are served from a region of 20 KiB on for
// DIRECT, 2 KiB for SEGREGATED and TINY, 1 KiB for TLSF; a smaller one may be accepted and serve
// none.
//
// Answers NULL, CONFIG for a kind that was not compiled in, REGION if the region is too small,
// TOO_LARGE if it is larger than the kind can use. O(tables). On a 32-bit processor no call for a
// raw heap takes more than 0.5 KiB of stack, except surefit_raw_init_certified and
// surefit_raw_certify: they take 3 KiB.
//
// # Safety
// The region has so many bytes, which nothing else uses as long as the heap is used.
enum surefit_status surefit_raw_init(void *region,
                                     size_t bytes,
                                     uint32_t kind,
                                     struct surefit_raw **raw);

// Lets threads or interrupts share a heap by a lock of the caller: from now on every call for the
// heap takes it and gives it back, and lasts as long as the heap's call does: with the lock held,
// or the interrupts off. Call it before other threads use the heap. A call is answered LOCKED if
// its thread holds the lock (it interrupts another call, and `acquire` did not keep it out), and
// UNLOCKED if `caller` answers 0; calls that give an object give NULL, and
// surefit_raw_usable_size 0.
//
// Answers NULL (also for a function that is NULL), NOT_A_HEAP, LOCKED if the heap has a lock.
// O(1).
//
// # Safety
// As surefit_raw_malloc; the functions can be called with their context as long as the heap is
// used.
enum surefit_status surefit_raw_share(struct surefit_raw *raw, const struct surefit_lock *lock);

// Ends a heap and all its objects at once. From now on every call for it answers NOT_A_HEAP, or
// gives NULL, also the calls of threads that wait for its lock; until they returned, the region
// and the lock must stay as they are.
//
// Answers NULL, NOT_A_HEAP (also the second time), UNLOCKED, LOCKED (see surefit_raw_share). O(1).
//
// # Safety
// As surefit_raw_malloc.
enum surefit_status surefit_raw_destroy(struct surefit_raw *raw);

// As malloc: an object of some bytes, which are not initialised, aligned for every scalar type
// that fits in it, as C23 says; NULL if there is no room, or `raw` is no heap. A size of 0 is
// served like 1.
//
// O(1) for DIRECT, TINY and TLSF, also the refusal. SEGREGATED: O(log region) if a chunk of a
// longer list is found at once; O(chunks) for a refusal and for an object for which no such chunk
// is aligned, on 64-bit processors from 16 bytes on.
//
// # Safety
// The heap is NULL or came from surefit_raw_init.
void *surefit_raw_malloc(struct surefit_raw *raw, size_t bytes);

// As calloc: `count` times `bytes` zeros; NULL also if the product overflows. As
// surefit_raw_malloc, and O(bytes); a shared heap is not locked meanwhile.
//
// # Safety
// As surefit_raw_malloc.
void *surefit_raw_calloc(struct surefit_raw *raw, size_t count, size_t bytes);

// As aligned_alloc, for any power of two; NULL also if `align` is none, or stricter than the heap
// gives (64 KiB for DIRECT and TINY, 1 GiB for the others). As surefit_raw_malloc; SEGREGATED:
// O(chunks).
//
// # Safety
// As surefit_raw_malloc.
void *surefit_raw_aligned_alloc(struct surefit_raw *raw, size_t align, size_t bytes);

// As realloc: in place where possible; NULL, and the object as it was, if there is no room, or the
// heap finds that the object is not live. NULL for an object is a malloc; a size of 0 is served
// like 1. As surefit_raw_malloc, and O(bytes copied).
//
// # Safety
// As surefit_raw_malloc; the object is NULL, or live in this heap.
void *surefit_raw_realloc(struct surefit_raw *raw, void *object, size_t bytes);

// As free; NULL is none. A double or a foreign free is answered where the heap finds it, and is
// undefined behaviour where it does not. All kinds find addresses outside the heap. DIRECT and
// TINY find large objects and the last of a page; TLSF and SEGREGATED find every object, until its
// bytes are part of another object.
//
// Answers NULL or NOT_A_HEAP for the heap, UNLOCKED, LOCKED, STALE, FOREIGN. O(1).
//
// # Safety
// As surefit_raw_realloc, except for what the heap finds.
enum surefit_status surefit_raw_free(struct surefit_raw *raw, void *object);

// The bytes of a live object, all of which may be used: at least its request. 0 for NULL, and
// where the heap finds that the object is not live; never more than lies between it and the
// region's end. O(1).
//
// # Safety
// As surefit_raw_free.
size_t surefit_raw_usable_size(struct surefit_raw *raw, void *object);

// Verifies every invariant of the heap.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, LOCKED, CORRUPT. O(region).
//
// # Safety
// As surefit_raw_malloc.
enum surefit_status surefit_raw_check(struct surefit_raw *raw);

// Writes the account of a heap's bytes; what is neither used nor administrative is free.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, LOCKED. O(region).
//
// # Safety
// As surefit_raw_malloc; the other pointer is NULL or the caller's.
enum surefit_status surefit_raw_stats_get(struct surefit_raw *raw, struct surefit_raw_stats *stats);

// As surefit_heap_init, of a heap that may leave as many holes as `slack` bytes of pages hold,
// wherever they are, in place of those that the configuration allows each size-class. A free
// moves an object only if no slack is left, and then one page-block at most. So a region with more
// bytes than its demand needs costs fewer moves: see surefit_slack_bytes.
//
// Where the configuration bounds classes in not-full pages, slack means nothing. A library built
// without the feature `slack` does not have this function.
//
// Answers as surefit_heap_init, and takes as long.
//
// # Safety
// As surefit_heap_init.
enum surefit_status surefit_heap_init_with_slack(void *region,
                                                 size_t bytes,
                                                 const struct surefit_config *config,
                                                 size_t slack,
                                                 struct surefit_heap **heap);

// Computes the slack of a heap for a demand, in a region of `bytes` bytes that begins at a
// multiple of the page: the most with which surefit_alloc and surefit_resize still refuse nothing
// within the demand. For a region at any address take a page less a byte from `bytes`. As
// surefit_certify it needs no heap, and 8.5 KiB of stack. SIZE_MAX / 2: no free moves anything. A
// library built without the feature `slack` does not have this function.
//
// Answers as surefit_certify, and REGION if the demand needs more bytes even without any hole.
//
// # Safety
// As surefit_certify.
enum surefit_status surefit_slack_bytes(const struct surefit_config *config,
                                        const struct surefit_demand *demand,
                                        size_t bytes,
                                        size_t *slack);

// Writes the counters of a heap.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED. O(classes).
//
// # Safety
// The heap is NULL or came from surefit_heap_init; the other pointer is NULL or the caller's.
enum surefit_status surefit_stats_get(const struct surefit_heap *heap, struct surefit_stats *stats);

// Shows all live page-blocks to a function, in the order of their entries, until it answers false.
// The function must not change the heap, and must return: no longjmp, no exception.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED. O(entries ever made).
//
// # Safety
// As surefit_stats_get; the function takes its context.
enum surefit_status surefit_walk(const struct surefit_heap *heap,
                                 bool (*show)(void *context, struct surefit_block block),
                                 void *context);

// Verifies every invariant of a heap. Writes the first that does not hold, unless `fault` is NULL.
//
// Answers NULL, NOT_A_HEAP, UNLOCKED, CORRUPT. O(region).
//
// # Safety
// As surefit_stats_get.
enum surefit_status surefit_check(const struct surefit_heap *heap, struct surefit_fault *fault);

// A status in words: a string that lives for ever, also for a number that is no status. A library
// built without the feature `strerror` does not have this function. O(1).
const char *surefit_strerror(int status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SUREFIT_H */
