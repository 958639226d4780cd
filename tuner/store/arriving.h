/* arriving.h - the folders arriving/ of the projects, whose files may not be on
 * the disk yet: what is left there. */
#ifndef HT_TUNER_STORE_ARRIVING_H
#define HT_TUNER_STORE_ARRIVING_H

#include <stdint.h>

#include "proto/base/error.h"

struct project;
struct store_board;

/* Of all projects below the descriptor: after a start none is whole for sure.
 * HT_IO  something cannot be removed */
enum ht_status arriving_empty(int root, struct ht_error *err);
/* Whole chunks that came before `before_ms` (wall clock), and what is in
 * chunks/, too. */
void arriving_expire(struct project *project, struct store_board *board,
                     int64_t before_ms);

#endif
