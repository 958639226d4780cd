/* budget.h - how much of the server one address, principal, replica or project
 * may take: one table with each budget's name, default and meaning.
 *
 * The table is the only list: --budget NAME=N changes a value, GET /metrics
 * shows value and use, and docs/operations.md has the same rows, which
 * unit/docs compares. One set for the process, set before its threads begin. */
#ifndef HT_TUNER_BASE_BUDGET_H
#define HT_TUNER_BASE_BUDGET_H

#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"

enum budget {
    BUDGET_HALF_OPEN,
    BUDGET_CONNECTIONS,
    BUDGET_BODY_BYTES,
    BUDGET_REFUSED_LINES,
    BUDGET_QUESTIONS,
    BUDGET_HELD,
    BUDGET_PIPES,
    BUDGET_REPLICA_RECORDS,
    BUDGET_REPLICA_RATE,
    BUDGET_REPLICA_BYTES,
    BUDGET_LOG_BYTES,
    BUDGET_REFUSALS,
    BUDGET_AUDIT_LINES,
    BUDGET_AUDIT_DAYS,
    BUDGET_HANDSHAKES,
    BUDGET_HANDSHAKES_ALL,
    BUDGET_STUDY_MEMORY,
    BUDGET_DISK_WARNING,
    BUDGET_DISK_RESERVE,
    BUDGET_TRANSFERS,
    BUDGET_PROJECT_STORE,
    BUDGETS
};

struct budget_row {
    const char *name;    /* as --budget and the metrics' label have it */
    int64_t standard;    /* the default */
    int64_t least, most; /* that an option may set */
    const char *whose;   /* "address", "principal", "replica", "project",
                             "server" */
    const char *meaning; /* what is counted, and what happens beyond it */
};

extern const struct budget_row budget_table[BUDGETS];

/* "NAME=N,NAME=N": changes those values. HT_INVALID names the item; nothing is
 * changed then. Before the first thread. */
enum ht_status budget_set(const char *list, struct ht_error *err);
/* The value in force. */
int64_t budget_of(enum budget budget);

/* Something was refused, dropped or thinned for it. Any thread. */
void budget_exceeded(enum budget budget);
/* Appends values and counts in Prometheus' text format. */
void budget_write(struct text *out);

#endif
