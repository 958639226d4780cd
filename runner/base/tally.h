/* tally.h - how often each of many 64-bit hashes came. */
#ifndef HT_RUNNER_BASE_TALLY_H
#define HT_RUNNER_BASE_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_slot {
    uint64_t hash;
    uint32_t count; /* 0: a free slot */
};

struct tally {                /* zeroed = empty */
    struct tally_slot *slots; /* owned */
    size_t n, room;           /* room is a power of two */
};

uint32_t tally_add(struct tally *tally, uint64_t hash); /* how often by now */
uint32_t tally_get(const struct tally *tally, uint64_t hash);
void tally_clear(struct tally *tally); /* empty, nothing is owned */

#endif
