/* lines.h - the lines of a watch, out of bytes that are cut anywhere. */
#ifndef HT_RUNNER_KUBERNETES_LINES_H
#define HT_RUNNER_KUBERNETES_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"

/* An object of a cluster has 1.5 MiB at most in its store, more as JSON. */
enum { KUBE_LINE_MOST = 8 * 1024 * 1024 };

struct kube_lines {   /* all zero at first */
    struct text line; /* that has begun */
};

/* A line as JSON, valid during the call; false: no more are wanted. */
typedef bool kube_line(void *context, const struct node *line);

enum kube_lines_end {
    KUBE_LINES_MORE,  /* all bytes were taken */
    KUBE_LINES_LEFT,  /* `take` returned false */
    KUBE_LINES_BROKEN /* a line is no JSON object, or too long */
};

/* Calls `take` with each line that is complete now; empty lines are none. */
enum kube_lines_end kube_lines_feed(struct kube_lines *lines, const char *bytes,
                                    size_t len, kube_line *take, void *context);
/* Drops the line that has begun. */
void kube_lines_fini(struct kube_lines *lines);

#endif
