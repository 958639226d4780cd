/* cli_frame.h - one picture of a running study, as lines of text. */
#ifndef HT_HYPERTUNE_CLI_FRAME_H
#define HT_HYPERTUNE_CLI_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hypertune/cli_study.h"
#include "proto/limits.h"
#include "proto/text.h"

enum { FRAME_CURVE = 16, FRAME_LAST = 3 };

struct frame_slot { /* one running trial */
    char id[24], step[24], runner[64];
    double value; /* NaN: none yet */
    double curve[FRAME_CURVE];
    size_t n_curve;
    int64_t start_ms;
    char *params; /* "lr=0.01 opt=adam", owned by whoever fills the slot */
};

struct frame {
    size_t width, height; /* of the terminal */
    bool color;
    int64_t now_ms;
    char metric[HT_MAX_NAME + 1];
    const char *note; /* last line, "" for none */
    size_t n_slots;
    struct frame_slot *slots;
    char last[FRAME_LAST][160]; /* newest first, "" when fewer */
};

/* Appends the picture, no line wider than the terminal, no more lines than it
 * has; returns the number of lines. */
size_t cli_frame_print(const struct frame *frame, const struct cli_study *study,
                       struct text *out);

/* Appends a curve in 7 levels of height, lowest to highest of its own. */
void cli_frame_curve(const double values[], size_t n, struct text *out);
/* Appends a bar of `width` columns with the part done/all filled. */
void cli_frame_bar(int64_t done, int64_t all, size_t width, struct text *out);

#endif
