#include "runner/reports/record_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "runner/base/json.h"

struct record {
    struct record *next;
    uint64_t writer;
    int64_t seq;
    int64_t after; /* heartbeat that must be answered first */
    size_t len;
    char text[];
};

void record_queue_init(struct record_queue *queue)
{
    *queue = (struct record_queue){.batch = RECORD_BATCH};
    queue->last = &queue->first;
}

static void drop(struct record_queue *queue, struct record **link)
{
    struct record *record = *link;
    assert(record != NULL); /* n records are in the list */
    *link = record->next;
    if (*link == NULL)
        queue->last = link;
    free(record);
    queue->n--;
}

void record_queue_fini(struct record_queue *queue)
{
    while (queue->first != NULL)
        drop(queue, &queue->first);
}

void record_queue_add(struct record_queue *queue, const struct report *report,
                      int64_t after)
{
    struct text text = {0};
    report_text(report, &text);
    struct record *record = ht_xcalloc(1, sizeof *record + text.len + 1);
    record->writer = report->writer;
    record->seq = report->seq;
    record->after = after;
    record->len = text.len;
    memcpy(record->text, text.data, text.len);
    text_free(&text);
    *queue->last = record;
    queue->last = &record->next;
    queue->n++;
}

void record_queue_have(struct record_queue *queue, uint64_t writer, int64_t seq)
{
    struct record **link = &queue->first;
    /* The front is being sent and is confirmed by its own answer. */
    for (size_t i = 0; i < queue->in_flight; i++)
        link = &(*link)->next;
    while (*link != NULL) {
        if ((*link)->writer == writer && writer != 0 && (*link)->seq <= seq)
            drop(queue, link);
        else
            link = &(*link)->next;
    }
}

bool record_queue_is_ready(const struct record_queue *queue, int64_t beat)
{
    return queue->in_flight == 0 && queue->first != NULL &&
           queue->first->after <= beat;
}

void record_queue_batch(struct record_queue *queue, int64_t beat, size_t most,
                        const char *key, struct text *out)
{
    size_t n = 0;
    json_open_list(out, key);
    const size_t start = out->len;
    for (const struct record *record = queue->first;
         record != NULL && record->after <= beat && n < queue->batch &&
         (n == 0 || out->len - start + record->len < most);
         record = record->next) {
        json_put_raw(out, NULL, record->text);
        n++;
    }
    json_close_list(out);
    queue->in_flight = n;
}

void record_queue_confirm(struct record_queue *queue)
{
    for (; queue->in_flight > 0; queue->in_flight--)
        drop(queue, &queue->first);
    if (queue->batch < RECORD_BATCH)
        queue->batch *= 2;
}

size_t record_queue_refuse(struct record_queue *queue)
{
    const size_t n = queue->in_flight;
    queue->in_flight = 0;
    if (n > 1) {
        queue->batch = n / 2;
        return 0;
    }
    if (n == 1)
        drop(queue, &queue->first);
    return n;
}

void record_queue_return(struct record_queue *queue)
{
    queue->in_flight = 0;
}
