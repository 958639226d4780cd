/* tables.h - the tables of a page about a study. */
#ifndef HT_HYPERTUNE_CLI_REPORT_TABLES_H
#define HT_HYPERTUNE_CLI_REPORT_TABLES_H

#include "hypertune/cli/report/content.h"
#include "proto/base/text.h"

/* Append a section each, or nothing. */

/* What failed trials ended with, the most frequent reason first. */
void table_of_failures(const struct content *content, struct text *out);
/* All trials, the best first, and what of them was left out. */
void table_of_trials(const struct content *content, struct text *out);

#endif
