/* filter.h - which trials to show and in what order. */
#ifndef HT_HYPERTUNE_CLI_STUDY_FILTER_H
#define HT_HYPERTUNE_CLI_STUDY_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"

struct cli_filter; /* in its arena */

/* Reads conditions such as "dropout<0.3 optimizer=adam accuracy>=0.9" (all
 * must hold; operators = != < <= > >=). A key is a parameter, `objective`,
 * the name of a metric, `step` or `state`.
 * HT_INVALID  a condition has no operator, key or value */
enum ht_status cli_filter_read(struct arena *arena, const char *text,
                               const char *metric, struct cli_filter **filter,
                               struct ht_error *err);
/* Is `key` one of the NULL-terminated `keys`? */
bool cli_filter_has(const char *const keys[], const char *key);
/* The first key that is none of the NULL-terminated `keys`, or NULL. */
const char *cli_filter_unknown(const struct cli_filter *filter,
                               const char *const keys[]);
/* Whether all conditions hold; one about a value that the trial has not never
 * does. "state=failed" takes infeasible trials, too. */
bool cli_filter_match(const struct cli_filter *filter,
                      const struct node *trial);

/* Sorts trials by `key`, downwards when it begins with '-'; numbers as
 * numbers, trials without the value last, equal ones by id. */
void cli_filter_sort(struct arena *arena, const struct node **trials, size_t n,
                     const char *metric, const char *key);

#endif
