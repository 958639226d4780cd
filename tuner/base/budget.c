#include "tuner/base/budget.h"

#include <stdatomic.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/number.h"
#include "tuner/base/meter.h"

const struct budget_row budget_table[BUDGETS] = {
    [BUDGET_HALF_OPEN] =
        {"half-open", 64, 1, 10000, "address",
         "connections on which no token was accepted, of IPv6 those of a "
         "network /64; a new one ends the oldest"},
    [BUDGET_CONNECTIONS] =
        {"connections", 512, 1, 10000, "principal",
         "open connections on which its token was accepted; a new one ends the "
         "oldest idle one, and without an idle one gets 429"},
    [BUDGET_BODY_BYTES] =
        {"body-bytes", 64 << 20, 1 << 20, INT64_C(1) << 40, "principal",
         "bytes of request bodies that are not complete yet; a request beyond "
         "them is answered 429"},
    [BUDGET_REFUSED_LINES] =
        {"refused-lines", 10, 1, 10000, "server",
         "lines of the log a second about refused requests; further ones are "
         "counted"},
    [BUDGET_QUESTIONS] =
        {"questions", 64, 1, 100000, "principal",
         "slow questions that wait for a model or a reader; further ones are "
         "answered 429"},
    [BUDGET_HELD] =
        {"held", 512, 1, 100000, "principal",
         "requests held until a search or a rule has its answer; further ones "
         "are answered 429"},
    [BUDGET_PIPES] =
        {"pipes", 4096, 4, 20000, "address",
         "connections each to the addresses of reports and of control, of IPv6 "
         "those of a network /64; a new one ends the oldest without an "
         "accepted message"},
    [BUDGET_REPLICA_RECORDS] =
        {"replica-records", HT_MAX_REPORTS, 1, 100000000, "replica",
         "records in all; beyond it every second one is stored, beyond twice "
         "as many every fourth"},
    [BUDGET_REPLICA_RATE] =
        {"replica-rate", 100, 1, 1000000, "replica",
         "records a second, counted from a minute before its attempt began; "
         "thinned beyond it as beyond replica-records"},
    [BUDGET_REPLICA_BYTES] =
        {"replica-bytes", 16 << 20, 1 << 10, INT64_C(1) << 40, "replica",
         "bytes of its records, checkpoint paths included; thinned beyond it "
         "as beyond replica-records"},
    [BUDGET_LOG_BYTES] =
        {"log-bytes", 16 << 20, 1 << 10, INT64_C(1) << 40, "stream",
         "bytes that are kept of one stream (stdout, stderr) of a replica's "
         "attempt: the first half of them and the newest; the log says how "
         "many between them were not kept"},
    [BUDGET_REFUSALS] =
        {"refusals", 5, 1, 1000, "address",
         "refused requests a second with a line each in the audit log; one "
         "line counts the others"},
    [BUDGET_AUDIT_LINES] =
        {"audit-lines", 1000000, 1000, 1000000000, "server",
         "lines of the audit log, of changes and of refusals each; the oldest "
         "are deleted"},
    [BUDGET_AUDIT_DAYS] = {"audit-days", 400, 1, 36500, "server",
                           "days that lines of the audit log are kept"},
    [BUDGET_HANDSHAKES] =
        {"handshakes", 16, 1, 10000, "address",
         "TLS connections to one listener without a complete handshake, of "
         "IPv6 those of a network /64; a new one ends the oldest"},
    [BUDGET_HANDSHAKES_ALL] =
        {"handshakes-all", 256, 1, 10000, "server",
         "such connections to one listener from all addresses; a new one ends "
         "the oldest"},
    [BUDGET_STUDY_MEMORY] =
        {"study-memory", 32 << 20, 1 << 20, INT64_C(1) << 40, "server",
         "bytes of specs and of suggestions found ahead that are kept in "
         "memory; those of the study used longest ago are dropped"},
    [BUDGET_DISK_WARNING] = {"disk-warning", 10, 0, 99, "server",
                             "percent of the data folder's disk that are free; "
                             "below, there is an alarm"},
    [BUDGET_DISK_RESERVE] =
        {"disk-reserve", 5, 0, 99, "server",
         "percent that are free; below, no new trials begin and no log lines "
         "are stored, while running trials continue"},
    [BUDGET_TRANSFERS] =
        {"transfers", 16, 2, 10000, "server",
         "chunks and manifests of the store that come or go at once, each with "
         "1 MiB of memory, of one principal half as many; further ones wait"},
    [BUDGET_PROJECT_STORE] =
        {"project-store", INT64_C(100) << 30, 1 << 20, INT64_C(1) << 60,
         "project",
         "bytes of code and checkpoints that are kept of it; further chunks "
         "are answered 503"},
};

static _Atomic int64_t changed[BUDGETS]; /* 0: the default */
static _Atomic int64_t exceeded[BUDGETS];

static size_t find(const char *name, size_t len)
{
    size_t i = 0;
    while (i < BUDGETS && (strlen(budget_table[i].name) != len ||
                           memcmp(budget_table[i].name, name, len) != 0))
        i++;
    return i;
}

/* One item "NAME=N" of `len` bytes. */
static enum ht_status set_one(const char *item, size_t len,
                              int64_t values[BUDGETS], struct ht_error *err)
{
    const char *equals = memchr(item, '=', len);
    const size_t i =
        equals == NULL ? BUDGETS : find(item, (size_t)(equals - item));
    if (i == BUDGETS)
        return ht_fail(err, HT_INVALID,
                       "--budget: \"%.*s\" is not NAME=N with a name that "
                       "docs/operations.md lists",
                       (int)(len < 64 ? len : 64), item);
    const struct budget_row *row = &budget_table[i];
    char text[24] = "";
    const size_t digits = len - (size_t)(equals + 1 - item);
    if (digits < sizeof text)
        memcpy(text, equals + 1, digits);
    if (!number_int64(text, &values[i]) || values[i] < row->least ||
        values[i] > row->most)
        return ht_fail(err, HT_INVALID,
                       "--budget: %s must be from %lld to %lld", row->name,
                       (long long)row->least, (long long)row->most);
    return HT_OK;
}

enum ht_status budget_set(const char *list, struct ht_error *err)
{
    int64_t values[BUDGETS];
    for (int i = 0; i < BUDGETS; i++)
        values[i] = changed[i];
    while (*list != '\0') {
        const size_t len = strcspn(list, ",");
        const enum ht_status status = set_one(list, len, values, err);
        if (status != HT_OK)
            return status;
        list += len + (list[len] == ',');
    }
    for (int i = 0; i < BUDGETS; i++)
        changed[i] = values[i];
    return HT_OK;
}

int64_t budget_of(enum budget budget)
{
    const int64_t value =
        atomic_load_explicit(&changed[budget], memory_order_relaxed);
    return value != 0 ? value : budget_table[budget].standard;
}

void budget_exceeded(enum budget budget)
{
    atomic_fetch_add_explicit(&exceeded[budget], 1, memory_order_relaxed);
}

static double count_of(enum budget budget)
{
    return (double)atomic_load_explicit(&exceeded[budget],
                                        memory_order_relaxed);
}

void budget_write(struct text *out)
{
    static const char limit[] = "hypertune_budget";
    static const char beyond[] = "hypertune_budget_exceeded_total";
    struct text counts = {0}; /* the second family, after all of the first */
    meter_family(out, limit, "gauge", "What one of its kind may take.");
    meter_family(&counts, beyond, "counter",
                 "How often more was refused, dropped or thinned.");
    for (int i = 0; i < BUDGETS; i++) {
        const struct meter_label label = {"budget", budget_table[i].name};
        meter_sample(out, limit, 1, &label, (double)budget_of((enum budget)i));
        meter_sample(&counts, beyond, 1, &label, count_of((enum budget)i));
    }
    text_append(out, counts.data, counts.len);
    text_free(&counts);
}
