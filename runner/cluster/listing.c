#include "runner/cluster/listing.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/text.h"
#include "runner/base/disk.h"

enum {
    MOST_MISSED = 2, /* listings */
    UNKNOWN_MS = 30000,
    MOST_OUTPUT = 1 << 20,
    TAIL_BYTES = 160 /* of output, in a reason */
};

int64_t listing_find(const struct batch *batch,
                     const struct clerk_listing *listing)
{
    for (size_t i = 0;
         batch->job == 0 && batch->submit == 0 && i < listing->rows.n; i++)
        if (strcmp(listing->rows.rows[i].name, batch->name) == 0)
            return listing->rows.rows[i].job;
    return 0;
}

static void count_missing(struct slot *slot)
{
    slot->lingers = false; /* unless this listing has it */
    if (slot->gone || ++slot->missed < MOST_MISSED)
        return;
    slot->gone = slot->vanished = true;
}

/* What was cancelled before the listing and still is in it was not
 * cancelled. */
static void forget_cancel(struct slot *slot, uint64_t done)
{
    if (slot->cancel > 0 && slot->cancel <= done && slot->missed == 0 &&
        (!slot->gone || slot->lingers) && slot->state != SLURM_ENDING)
        slot->cancel = 0;
}

/* An element that waited may still do; what was cancelled is taken as missing.
 */
static void note_cut(struct batch *batch, const struct slurm_row *row)
{
    for (int i = row->first; i <= row->last && i < batch->n; i++) {
        struct slot *slot = &batch->slots[i];
        const bool waits =
            slot->state == SLURM_PENDING || slot->state == SLURM_HELD;
        if (slot->gone || slot->cancel > 0 || !waits)
            continue;
        slot->listed = true;
        slot->missed = 0;
    }
}

static void note(struct batch *batch, const struct slurm_row *row)
{
    if (row->cut)
        note_cut(batch, row);
    else
        batch_note(batch, row);
}

void listing_apply(struct batch *batch, const struct clerk_listing *listing,
                   int64_t now_ms)
{
    if (batch->job == 0) {
        if (batch->submit == 0 && batch->unknown_at == 0)
            batch->unknown_at = now_ms;
        if (batch->submit == 0 && now_ms - batch->unknown_at >= UNKNOWN_MS)
            batch_give_up(batch, now_ms);
        return;
    }
    if (batch->submit > listing->done)
        return; /* it was asked for before the job was submitted */
    for (int i = 0; i < batch->n; i++)
        count_missing(&batch->slots[i]);
    for (size_t i = 0; i < listing->rows.n; i++)
        if (listing->rows.rows[i].job == batch->job)
            note(batch, &listing->rows.rows[i]);
    for (int i = 0; i < batch->n; i++)
        forget_cancel(&batch->slots[i], listing->done);
}

bool listing_is_stray(const struct batch *first, const struct slurm_row *row)
{
    switch (row->state) {
    case SLURM_PENDING:
    case SLURM_RUNNING:
    case SLURM_REQUEUED:
    case SLURM_HELD:
        break;
    case SLURM_ENDING:
    case SLURM_COMPLETED:
    case SLURM_FAILED:
    case SLURM_CANCELLED:
    case SLURM_TIMEOUT:
    case SLURM_DEADLINE:
    case SLURM_OUT_OF_MEMORY:
    case SLURM_NODE_FAIL:
    case SLURM_PREEMPTED:
    case SLURM_UNKNOWN:
        return false;
    }
    if (row->cut)
        return false; /* which they are is said when the others are gone */
    for (; first != NULL; first = first->next)
        if (first->job == row->job ||
            (first->job == 0 && strcmp(first->name, row->name) == 0))
            return false;
    return true;
}

/* ---- in words ---- */

/* The last lines, as one. */
static const char *tail_of(struct arena *arena, const struct batch *batch,
                           int element)
{
    char name[32];
    struct disk_bytes bytes;
    (void)snprintf(name, sizeof name, "%d.out", element);
    if (disk_read(arena, batch->folder, name, MOST_OUTPUT, &bytes, NULL) !=
            HT_OK ||
        bytes.len == 0)
        return "";
    size_t from = bytes.len > TAIL_BYTES ? bytes.len - TAIL_BYTES : 0;
    while (from > 0 && from < bytes.len && bytes.data[from - 1] != '\n')
        from++;
    if (from == bytes.len)
        from = bytes.len - TAIL_BYTES;
    struct text out = {0};
    text_clean(&out, bytes.data + from, bytes.len - from);
    for (char *c = out.data; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    while (out.len > 0 && out.data[out.len - 1] == ' ')
        out.data[--out.len] = '\0';
    return text_take(&out, arena);
}

const char *listing_describe_end(struct arena *arena, const struct batch *batch,
                                 int element)
{
    const struct slot *slot = &batch->slots[element];
    const char *output = tail_of(arena, batch, element);
    struct text out = {0};
    text_printf(&out, "job %s ended before it asked for a trial",
                batch_element_id(batch, arena, element));
    if (slot->nodes[0] != '\0')
        text_printf(&out, ", on %s", slot->nodes);
    text_printf(&out, ": %s", batch_end(batch, arena, element).words);
    if (output[0] != '\0')
        text_printf(&out, ": %s", output);
    return text_take(&out, arena);
}
