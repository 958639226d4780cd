/* content.h - what a page about a study is made from, as the server has it. */
#ifndef HT_HYPERTUNE_CLI_REPORT_CONTENT_H
#define HT_HYPERTUNE_CLI_REPORT_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"

/* Everything is borrowed from cli->arena. */
struct content {
    struct cli *cli;
    const struct cli_study *study;
    struct cli_parameters parameters;
    size_t n; /* trials, by id */
    const struct node **trials;
    size_t n_others; /* metrics that are no goal */
    const char **others;
    const struct node *best; /* with its attempts; NULL: none, or several */
    const struct node *importances; /* the first, the most important; NULL */
    const struct node *curves;      /* the first of the best trials; NULL */
    const struct node *notes;       /* {"note", "tags"} of the study; NULL */
    const char *spec;               /* YAML, without values of variables */
    const char *version;            /* of the server, "" when it was not said */
    int64_t now_ms;
};

/* Asks the server for all of it; a part that it does not have is left out.
 * Errors are those of cli_http_call(). */
enum ht_status content_read(struct cli *cli, const struct cli_study *study,
                            struct content *content, struct ht_error *err);

/* Is the trial the best one, or one of those that no other one beats? */
bool content_is_best(const struct content *content, const struct node *trial);
/* Does a trial count with its result: did it succeed, or was it stopped? */
bool content_counts(const struct node *trial);
/* The value of a metric of a trial that counts; NaN: it has none. */
double content_value(const struct node *trial, const char *metric);
/* The parameterSpec of that name; NULL: there is none. */
const struct node *content_parameter(const struct content *content,
                                     const char *name);
/* The metrics of the study that are goals, no bounds of safety. */
bool content_is_goal(const struct node *metric);
bool content_maximizes(const struct node *metric);

#endif
