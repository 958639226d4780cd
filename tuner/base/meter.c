#include "tuner/base/meter.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#include "proto/base/clock.h"

enum { BUCKETS_MOST = 16, ROUTES_MOST = 160 };

static _Atomic int64_t counts[METER_COUNTS];

static int64_t count_of(enum meter_count count)
{
    return atomic_load_explicit(&counts[count], memory_order_relaxed);
}

void meter_add(enum meter_count count, int64_t n)
{
    atomic_fetch_add_explicit(&counts[count], n, memory_order_relaxed);
}

/* --- spreads --- */

static const struct spread_form {
    const char *name, *help;
    double bounds[BUCKETS_MOST]; /* upper ones, ascending; 0 ends them */
} forms[METER_SPREADS] = {
    [METER_SEARCH_SECONDS] = {"hypertune_suggestion_seconds",
                              "Time from asking for suggestions to having "
                              "them.",
                              {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10,
                               30}},
    [METER_JUDGE_SECONDS] = {"hypertune_early_stop_seconds",
                             "Time from asking whether to stop a trial to the "
                             "verdict.",
                             {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10,
                              30}},
    [METER_COMMIT_SECONDS] = {"hypertune_commit_seconds",
                              "Duration of a synced commit.",
                              {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1,
                               0.3, 1, 3}},
    [METER_COMMIT_ROWS] = {"hypertune_commit_rows",
                           "Rows written by one commit.",
                           {1, 3, 10, 30, 100, 300, 1000, 3000, 10000}},
};

static struct {
    _Atomic uint64_t buckets[BUCKETS_MOST + 1]; /* each by itself */
    _Atomic uint64_t sum;                       /* in millionths */
} spreads[METER_SPREADS];

static size_t n_bounds(enum meter_spread spread)
{
    size_t n = 0;
    while (n < BUCKETS_MOST && forms[spread].bounds[n] > 0)
        n++;
    return n;
}

void meter_observe(enum meter_spread spread, double value)
{
    const size_t n = n_bounds(spread);
    size_t at = 0;
    while (at < n && value > forms[spread].bounds[at])
        at++;
    atomic_fetch_add_explicit(&spreads[spread].buckets[at], 1,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&spreads[spread].sum, (uint64_t)(value * 1e6),
                              memory_order_relaxed);
}

void meter_observe_since(enum meter_spread spread, int64_t begun_us)
{
    const int64_t us = clock_monotonic_us() - begun_us;
    meter_observe(spread, us > 0 ? (double)us / 1e6 : 0);
}

static void write_spread(enum meter_spread spread, struct text *out)
{
    const char *name = forms[spread].name;
    const size_t n = n_bounds(spread);
    char line[96], bound[32];
    uint64_t total = 0;
    meter_family(out, name, "histogram", forms[spread].help);
    snprintf(line, sizeof line, "%s_bucket", name);
    for (size_t i = 0; i <= n; i++) {
        total += atomic_load_explicit(&spreads[spread].buckets[i],
                                      memory_order_relaxed);
        snprintf(bound, sizeof bound, "%g", forms[spread].bounds[i]);
        const struct meter_label le = {"le", i < n ? bound : "+Inf"};
        meter_sample(out, line, 1, &le, (double)total);
    }
    snprintf(line, sizeof line, "%s_sum", name);
    meter_sample(out, line, 0, NULL,
                 (double)atomic_load_explicit(&spreads[spread].sum,
                                              memory_order_relaxed) /
                     1e6);
    /* Equals the last bucket, even while another thread counts. */
    snprintf(line, sizeof line, "%s_count", name);
    meter_sample(out, line, 0, NULL, (double)total);
}

/* --- HTTP --- */

/* Every status that an answer has; the last one counts for any other. */
static const int codes[] = {200, 304, 400, 401, 403, 404, 405,
                            408, 409, 411, 412, 413, 415, 421,
                            429, 431, 500, 501, 503, 504, 0};
enum { CODES = sizeof codes / sizeof *codes };

/* By route, then those without one. */
static _Atomic uint64_t answers[ROUTES_MOST + 1][CODES];

static size_t n_routes;
static meter_route *name_route;

void meter_name_routes(size_t n, meter_route *name)
{
    n_routes = n < ROUTES_MOST ? n : ROUTES_MOST;
    name_route = name;
}

void meter_http(size_t route, int code)
{
    size_t at = 0;
    while (at + 1 < CODES && codes[at] != code)
        at++;
    atomic_fetch_add_explicit(
        &answers[route < n_routes ? route : ROUTES_MOST][at], 1,
        memory_order_relaxed);
}

static void write_route(const char *method, const char *pattern, size_t index,
                        struct text *out)
{
    for (size_t i = 0; i < CODES; i++) {
        const uint64_t n =
            atomic_load_explicit(&answers[index][i], memory_order_relaxed);
        char code[16];
        if (n == 0)
            continue;
        snprintf(code, sizeof code, "%d", codes[i]);
        const struct meter_label labels[] = {
            {"method", method},
            {"route", pattern},
            {"code", codes[i] != 0 ? code : "other"}};
        meter_sample(out, "hypertune_http_requests_total", 3, labels,
                     (double)n);
    }
}

static void write_http(struct text *out)
{
    meter_family(out, "hypertune_http_requests_total", "counter",
                 "Answers over HTTP by route and status.");
    for (size_t i = 0; i < n_routes; i++) {
        const char *method, *pattern;
        name_route(i, &method, &pattern);
        write_route(method, pattern, i, out);
    }
    write_route("", "none", ROUTES_MOST, out);
}

/* --- all --- */

static void write_attempts(struct text *out)
{
    static const char *const outcomes[] = {"succeeded", "failed", "stopped",
                                           "timeout", "lost"};
    meter_family(out, "hypertune_attempts_ended_total", "counter",
                 "Attempts that ended since the server began.");
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        const struct meter_label label = {"outcome", outcomes[i]};
        meter_sample(
            out, "hypertune_attempts_ended_total", 1, &label,
            (double)count_of((enum meter_count)(METER_ATTEMPTS_SUCCEEDED + i)));
    }
}

static void write_queues(struct text *out)
{
    static const struct {
        const char *lane;
        enum meter_count posted, answered;
    } queues[] = {{"core", METER_CORE_POSTED, METER_CORE_ANSWERED},
                  {"reader", METER_READER_POSTED, METER_READER_ANSWERED}};
    meter_family(out, "hypertune_requests_open", "gauge",
                 "Requests not answered yet, held polls of runners "
                 "among them.");
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        const struct meter_label label = {"lane", queues[i].lane};
        /* In this order no answer is counted before its question. */
        const int64_t answered = count_of(queues[i].answered);
        meter_sample(out, "hypertune_requests_open", 1, &label,
                     (double)(count_of(queues[i].posted) - answered));
    }
}

void meter_write(struct text *out)
{
    static const struct {
        const char *name, *help;
        enum meter_count count;
    } singles[] = {
        {"hypertune_attempts_started_total",
         "Attempts that a runner was given since the server began.",
         METER_ATTEMPTS_STARTED},
        {"hypertune_report_messages_total", "Messages with measurements.",
         METER_REPORT_MESSAGES},
        {"hypertune_report_records_total", "Measurements in these messages.",
         METER_RECORDS},
        {"hypertune_commit_failures_total", "Commits that failed.",
         METER_COMMIT_FAILURES},
        {"hypertune_webhook_deliveries_total", "Webhooks that were taken.",
         METER_DELIVERIES},
        {"hypertune_webhook_failures_total",
         "Attempts to deliver a webhook that failed.", METER_DELIVERY_FAILURES},
    };
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        meter_single(out, singles[i].name, "counter", singles[i].help,
                     (double)count_of(singles[i].count));
    write_attempts(out);
    write_queues(out);
    for (int i = 0; i < METER_SPREADS; i++)
        write_spread((enum meter_spread)i, out);
    write_http(out);
}

/* --- Prometheus' text format 0.0.4 --- */

void meter_family(struct text *out, const char *name, const char *type,
                  const char *help)
{
    text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_value(struct text *out, double value)
{
    if (isnan(value))
        text_puts(out, "NaN");
    else if (isinf(value))
        text_puts(out, value > 0 ? "+Inf" : "-Inf");
    else
        text_printf(out, "%.15g", value);
}

static void add_label(struct text *out, const struct meter_label *label)
{
    text_printf(out, "%s=\"", label->name);
    for (const char *at = label->value; *at != '\0'; at++)
        if (*at == '\n')
            text_puts(out, "\\n");
        else if (*at == '"' || *at == '\\')
            text_printf(out, "\\%c", *at);
        else
            text_append(out, at, 1);
    text_puts(out, "\"");
}

void meter_sample(struct text *out, const char *name, size_t n,
                  const struct meter_label labels[], double value)
{
    text_puts(out, name);
    for (size_t i = 0; i < n; i++) {
        text_puts(out, i == 0 ? "{" : ",");
        add_label(out, &labels[i]);
    }
    text_puts(out, n > 0 ? "} " : " ");
    add_value(out, value);
    text_puts(out, "\n");
}

void meter_single(struct text *out, const char *name, const char *type,
                  const char *help, double value)
{
    meter_family(out, name, type, help);
    meter_sample(out, name, 0, NULL, value);
}
