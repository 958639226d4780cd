/* sweep.h - removes what no tree has: manifests without a row in the table of
 * trees, chunks that no manifest names, chunks that came long ago.
 *
 * While it runs, no tree is put in place (both are slow jobs, see store.c), and
 * no backup is made. What it cannot read for sure stays. */
#ifndef HT_TUNER_STORE_SWEEP_H
#define HT_TUNER_STORE_SWEEP_H

#include "tuner/store/store.h"

/* The job of store_sweep_soon(). */
store_handler store_sweep;
/* After it, also where memory ran out within it. */
void sweep_end(struct store *store);

#endif
