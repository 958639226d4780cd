/* heap.h - how the C library keeps memory, and when the system gets it back. */
#ifndef HT_TUNER_BASE_HEAP_H
#define HT_TUNER_BASE_HEAP_H

#include <stdint.h>

/* Before the first thread. */
void heap_begin(void);

/* Returns what was freed to the system, when that is much more than at the last
 * time; at most every few seconds. One thread, which says the time (monotonic).
 */
void heap_settle(int64_t now_ms);

#endif
