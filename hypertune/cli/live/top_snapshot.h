/* top_snapshot.h - what `hypertune top` prints where nothing is redrawn. */
#ifndef HT_HYPERTUNE_CLI_LIVE_TOP_SNAPSHOT_H
#define HT_HYPERTUNE_CLI_LIVE_TOP_SNAPSHOT_H

#include "hypertune/cli/live/overview.h"
#include "proto/base/text.h"

/* Appends it in the format of -o: table, wide, json, jsonl or csv. */
void top_snapshot_print(const struct cli *cli, const struct overview *overview,
                        struct text *out);

#endif
