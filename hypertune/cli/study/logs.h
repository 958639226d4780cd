/* logs.h - the output of a trial, as it comes. */
#ifndef HT_HYPERTUNE_CLI_STUDY_LOGS_H
#define HT_HYPERTUNE_CLI_STUDY_LOGS_H

#include <stdio.h>

#include "hypertune/cli/frame/cli.h"

/* One stream of a trial, read from `offset` on, attempt after attempt. The
 * texts are borrowed. */
struct cli_log {
    const char *study, *trial;
    const char *stream;  /* "stdout", "stderr", "runner" */
    const char *replica; /* "master-0" */
    FILE *to;            /* where it is printed */
    int64_t attempt;     /* CLI_UNSET: the newest */
    int64_t offset;
    int64_t tail; /* bytes from the end for the first request, CLI_UNSET */
    bool ended;   /* the attempt, and all of it is printed */
    bool patient; /* waits for an attempt that is not there yet */
    bool over;    /* none will come any more */
};

/* A log from the beginning of the trial's newest attempt. */
struct cli_log cli_log_of(const char *study, const char *trial,
                          const char *stream, FILE *to);

/* Appends printed bytes: line ends and tabs as they are, other control bytes
 * escaped. `data` is changed. */
void cli_log_escape(char *data, struct text *out);

/* Prints what there is by now. Returns CLI_DONE, or why it broke off. */
int cli_log_print(struct cli *cli, struct cli_log *log);
/* Behind one that has ended: the next attempt's. */
void cli_log_next(struct cli_log *log);

/* Prints the log of the trial's newest attempt from its beginning, and those
 * of the attempts that follow it, until the study is over. Returns CLI_DONE,
 * or why it broke off. */
int cli_logs_follow(struct cli *cli, const char *study, const char *trial);

/* Says the last lines that the first trial of a study printed to "stdout" or
 * "stderr"; nothing when there are none. */
void cli_log_say_last(struct cli *cli, const char *study, const char *stream);

#endif
