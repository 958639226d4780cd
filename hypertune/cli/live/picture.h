/* picture.h - one picture of a running study, as lines of text. */
#ifndef HT_HYPERTUNE_CLI_LIVE_PICTURE_H
#define HT_HYPERTUNE_CLI_LIVE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hypertune/cli/study/study.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"

enum { FRAME_CURVE = 20, FRAME_LAST = 3, FRAME_WHY_BYTES = 16 };

struct frame_slot { /* one running trial */
    char id[24], step[24], runner[64];
    double value; /* NaN: none yet */
    double curve[FRAME_CURVE];
    size_t n_curve;
    size_t n_values, stride; /* all values; how many are one of the curve */
    int64_t start_ms;
    char why[FRAME_WHY_BYTES]; /* it was chosen: "explores" */
    bool starting;             /* its attempt does not run yet */
    /* Safe to show and owned by the slot. */
    struct text words;  /* of its runner meanwhile: "pulling ..." */
    struct text params; /* "lr=0.01 opt=adam" */
    struct text brief;  /* the same in fewer columns */
};

struct frame {
    size_t width, height; /* of the terminal */
    bool color;
    int64_t now_ms;
    char metric[HT_MAX_NAME + 1];
    const char *question; /* in place of the keys, "" for none */
    const char *note;     /* last lines, foreign, "" for none */
    bool away;            /* the server does not answer */
    int64_t slots, busy;  /* of all runners, slots 0: none is known */
    size_t n_slots;
    struct frame_slot *running;
    size_t n_history; /* objectives of ended trials, oldest first */
    double *history;
    /* How trials ended, safe to show and owned like a slot's words. */
    struct text last[FRAME_LAST]; /* newest first */
    struct text failure;          /* the newest one */
    size_t since_failure;         /* trials that ended after it */
};

/* Appends the picture, every line narrower than the terminal and fewer lines
 * than it has; returns their number. */
size_t cli_frame_print(const struct frame *frame, const struct cli_study *study,
                       struct text *out);

#endif
