/* meter.h - what the server counts while it works, for GET /metrics.
 *
 * One set for the process, since what is measured is the process. Everything is
 * a relaxed atomic: counting costs one addition, never waits and may happen on
 * any thread. Figures only grow, and begin at 0 with the server. */
#ifndef HT_TUNER_BASE_METER_H
#define HT_TUNER_BASE_METER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

enum meter_count {
    METER_ATTEMPTS_STARTED,
    METER_ATTEMPTS_SUCCEEDED, /* ended; in the order of enum attempt_outcome */
    METER_ATTEMPTS_FAILED,
    METER_ATTEMPTS_STOPPED,
    METER_ATTEMPTS_TIMEOUT,
    METER_ATTEMPTS_LOST,
    METER_RECORDS,         /* measurements that came, once or again */
    METER_REPORT_MESSAGES, /* that brought them */
    METER_COMMIT_FAILURES,
    METER_CORE_POSTED, /* requests to the core */
    METER_CORE_ANSWERED,
    METER_READER_POSTED,
    METER_READER_ANSWERED,
    METER_DELIVERIES, /* webhooks that were taken */
    METER_DELIVERY_FAILURES,
    METER_COUNTS
};

enum meter_spread {
    METER_SEARCH_SECONDS, /* from the question to its points */
    METER_JUDGE_SECONDS,  /* from the question to the decision */
    METER_COMMIT_SECONDS, /* the synced write */
    METER_COMMIT_ROWS,
    METER_SPREADS
};

/* n is not negative. */
void meter_add(enum meter_count count, int64_t n);

/* One value, >= 0, in the unit that the name says. */
void meter_observe(enum meter_spread spread, double value);
/* Seconds since a clock_monotonic_us() moment. */
void meter_observe_since(enum meter_spread spread, int64_t begun_us);

/* Names the n routes of HTTP, for their labels; once, before the first
 * meter_http(). */
typedef void meter_route(size_t route, const char **method,
                         const char **pattern);
void meter_name_routes(size_t n, meter_route *name);
/* One answer over HTTP; METER_NO_ROUTE when its path was none. */
#define METER_NO_ROUTE SIZE_MAX
/* Codes that this server does not send count together. */
void meter_http(size_t route, int code);

/* Appends all figures in Prometheus' text format. */
void meter_write(struct text *out);

/* --- Prometheus' text format 0.0.4 --- */

struct meter_label {
    const char *name, *value; /* the value is foreign text */
};

/* Begins a family: "counter", "gauge" or "histogram". Its samples follow
 * before the next one begins. */
void meter_family(struct text *out, const char *name, const char *type,
                  const char *help);
/* One sample with its n labels. */
void meter_sample(struct text *out, const char *name, size_t n,
                  const struct meter_label labels[], double value);
/* A family of one sample without labels. */
void meter_single(struct text *out, const char *name, const char *type,
                  const char *help, double value);

#endif
