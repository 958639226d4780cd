/* last_line.h - the last line that a replica left on stderr, which most often
 * is the cause of its end in the trainer's own words. */
#ifndef HT_RUNNER_REPORTS_LAST_LINE_H
#define HT_RUNNER_REPORTS_LAST_LINE_H

#include "proto/base/text.h"
#include "runner/base/order.h"

enum {
    LAST_LINE_CHARACTERS = 200, /* with the ellipsis of one that was cut */
    LAST_LINE_BYTES = 360       /* fits HT_MAX_REASON with the words around */
};

/* Appends the last line that has a letter, a digit or anything beyond ASCII:
 * valid UTF-8 without the commands of terminals, secrets blanked as in logs.
 * Nothing when there is none near the end of the stream, or when the replica's
 * secrets are not known any more. `credentials` is the attempt's copy (see
 * masked_secrets.h). To be asked once the stream has ended. */
void last_line_text(const struct order *order, const char *replica_folder,
                    const char *credentials, struct text *out);

#endif
