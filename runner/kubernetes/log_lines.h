/* log_lines.h - the log of a container as an API server sends it, with a
 * timestamp before each line: its text, each byte once, however often the
 * answer is cut and asked for again.
 *
 * A node filters by whole seconds (sinceTime), so a new answer begins with the
 * first line of the newest second that was seen, and what was taken from there
 * on is skipped. A line before a line of an older second is not sent again.
 * Pure. Measured on Kubernetes 1.34 with containerd: lines that the runtime
 * has cut at 16 KiB come in one piece, with one timestamp. */
#ifndef HT_RUNNER_KUBERNETES_LOG_LINES_H
#define HT_RUNNER_KUBERNETES_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KUBE_LOG_STAMP = 40, /* bytes of a timestamp */
    KUBE_LOG_WORDS = 200 /* bytes that are kept of what is no log */
};

/* How far a log was taken; zeroed: nothing yet. */
struct kube_log_mark {
    int64_t second;             /* since 1970, of the newest line */
    char first[KUBE_LOG_STAMP]; /* the first line of that second; "": no line */
    int64_t bytes;              /* of text, from that line on */
    int64_t last;               /* of the newest line, in ns since 1970 */
};

typedef void kube_log_take(void *context, const char *text, size_t len);

struct kube_log_lines { /* one answer */
    struct kube_log_mark before, now;
    int64_t skip; /* bytes of text to come that were taken before */
    kube_log_take *take;
    void *context;
    char head[KUBE_LOG_STAMP]; /* of a line, up to its blank */
    size_t n_head;
    enum { LOG_AT_HEAD, LOG_IN_TEXT, LOG_IN_OTHER } state;
    bool begun;    /* a line has come */
    bool counts;   /* ... and it would be sent again */
    bool grew;     /* there was text that was not taken before */
    bool unbroken; /* nothing can be missing before it */
    int64_t after; /* lines up to this time (ns) were taken; 0: `skip` says it
                    */
    bool old;      /* the line is one of them */
    bool missing;  /* it does not continue where the last answer ended: the node
                      has removed lines (rotation) */
    char words[KUBE_LOG_WORDS + 1]; /* the last line without a timestamp: not
                                       the container's, the node's */
    size_t n_words;
};

/* Where to begin an answer to a request since mark->second. */
struct kube_log_place {
    struct kube_log_mark mark;
    int64_t more;  /* bytes of text that were taken behind the mark */
    bool unbroken; /* the answer before ended well and at once before this one:
                      lines that the node has removed were taken */
};
void kube_log_begin(struct kube_log_lines *lines,
                    const struct kube_log_place *place, kube_log_take *take,
                    void *context);
/* Calls `take` with text that was not taken before, newlines included. False:
 * lines are missing, and no more is wanted. */
bool kube_log_feed(struct kube_log_lines *lines, const char *bytes, size_t len);
/* The mark of all that was taken; false: the answer has not come so far as the
 * one before it, whose mark is still right. */
bool kube_log_end(const struct kube_log_lines *lines,
                  struct kube_log_mark *mark);

#endif
