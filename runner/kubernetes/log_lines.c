#include "runner/kubernetes/log_lines.h"

#include <string.h>

#include "proto/base/clock.h"

enum { SECOND_NS = 1000000000 };

void kube_log_begin(struct kube_log_lines *lines,
                    const struct kube_log_place *place, kube_log_take *take,
                    void *context)
{
    *lines = (struct kube_log_lines){.before = place->mark,
                                     .skip = place->mark.bytes + place->more,
                                     .unbroken = place->unbroken,
                                     .take = take,
                                     .context = context};
}

static int64_t second_of(int64_t ns)
{
    return ns / SECOND_NS - (ns % SECOND_NS < 0);
}

/* The answer begins with another line than the last one: that is gone. */
static void miss_first(struct kube_log_lines *lines)
{
    lines->missing = !lines->unbroken;
    lines->after = lines->before.last;
    lines->skip = 0;
}

static void begin_line(struct kube_log_lines *lines, int64_t ns)
{
    struct kube_log_mark *now = &lines->now;
    const int64_t second = second_of(ns);
    if (!lines->begun && lines->before.first[0] != '\0' &&
        strcmp(lines->before.first, lines->head) != 0)
        miss_first(lines);
    if (!lines->begun || second > now->second) {
        *now = (struct kube_log_mark){.second = second, .last = now->last};
        memcpy(now->first, lines->head, sizeof now->first);
    }
    if (ns > now->last)
        now->last = ns;
    lines->begun = true;
    lines->old = lines->after != 0 && ns <= lines->after;
    lines->counts = second >= now->second;
    lines->state = LOG_IN_TEXT;
    lines->n_words = 0;
}

static void put(struct kube_log_lines *lines, const char *bytes, size_t len)
{
    const size_t old = lines->skip < (int64_t)len ? (size_t)lines->skip : len;
    lines->skip -= (int64_t)old;
    if (lines->counts)
        lines->now.bytes += (int64_t)len;
    if (old == len || lines->old)
        return;
    lines->grew = true;
    lines->take(lines->context, bytes + old, len - old);
}

/* What has no timestamp is the rest of a line that began before the second
 * that was asked for, or a message of the node. */
static void add_words(struct kube_log_lines *lines, const char *bytes,
                      size_t len)
{
    const size_t room = KUBE_LOG_WORDS - lines->n_words;
    const size_t n = len < room ? len : room;
    memcpy(lines->words + lines->n_words, bytes, n);
    lines->n_words += n;
    lines->words[lines->n_words] = '\0';
}

static void leave_head(struct kube_log_lines *lines)
{
    lines->state = LOG_IN_OTHER;
    lines->n_words = 0;
    add_words(lines, lines->head, lines->n_head);
}

static void end_line(struct kube_log_lines *lines)
{
    lines->state = LOG_AT_HEAD;
    lines->n_head = 0;
}

static void feed_head(struct kube_log_lines *lines, char byte)
{
    int64_t ns;
    lines->head[lines->n_head] = '\0';
    if (byte == ' ' && clock_read_stamp_ns(lines->head, &ns)) {
        begin_line(lines, ns);
        return;
    }
    if (byte == '\n') {
        leave_head(lines);
        end_line(lines);
        return;
    }
    lines->head[lines->n_head++] = byte;
    if (byte == ' ' || lines->n_head == KUBE_LOG_STAMP - 1)
        leave_head(lines);
}

/* How many of the bytes belong to the line. */
static size_t feed_line(struct kube_log_lines *lines, const char *bytes,
                        size_t len)
{
    const char *feed = memchr(bytes, '\n', len);
    const size_t n = feed != NULL ? (size_t)(feed - bytes) + 1 : len;
    if (lines->state == LOG_IN_TEXT)
        put(lines, bytes, n);
    else
        add_words(lines, bytes, n - (feed != NULL));
    if (feed != NULL)
        end_line(lines);
    return n;
}

bool kube_log_feed(struct kube_log_lines *lines, const char *bytes, size_t len)
{
    while (len > 0 && !lines->missing) {
        size_t used = 1;
        if (lines->state != LOG_AT_HEAD)
            used = feed_line(lines, bytes, len);
        else
            feed_head(lines, *bytes);
        bytes += used;
        len -= used;
    }
    return !lines->missing;
}

bool kube_log_end(const struct kube_log_lines *lines,
                  struct kube_log_mark *mark)
{
    if (!lines->begun || lines->missing || lines->skip > 0)
        return false;
    *mark = lines->now;
    return true;
}
