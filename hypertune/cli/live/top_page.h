/* top_page.h - the picture of `hypertune top`. */
#ifndef HT_HYPERTUNE_CLI_LIVE_TOP_PAGE_H
#define HT_HYPERTUNE_CLI_LIVE_TOP_PAGE_H

#include "hypertune/cli/live/overview.h"

struct top_look {
    size_t width, height; /* of the terminal */
    bool color;
    const char *url;   /* of the server */
    const char *order; /* of the studies, one of overview_orders */
    bool reversed;
    size_t first; /* studies that are above the upper edge */
    bool away;    /* the server does not answer */
};

/* Appends the picture, every line narrower than the terminal and fewer lines
 * than it has; returns their number. */
size_t top_page_print(struct arena *arena, const struct overview *overview,
                      const struct top_look *look, struct text *out);

/* Studies from `first` on, at most `most`, as a table: with `wide` all that is
 * known of them. */
struct table *top_page_studies(struct arena *arena,
                               const struct overview *overview, size_t first,
                               size_t most, bool wide);
/* Runners, each with a row for every trial on it, at most `most` rows. */
struct table *top_page_runners(struct arena *arena,
                               const struct overview *overview, size_t most);

#endif
