/* slurm_defaults.c - what a cluster's users leave out of the section. */

#include "proto/job/slurm.h"

#include <string.h>

#include "proto/doc/node.h"
#include "proto/job/slurm_section.h"

static enum ht_status fail(const struct diag *diag, struct ht_error *err)
{
    const struct diag_item *first = diag->first;
    return ht_fail(err, HT_INVALID, "%s:%d:%d: %s%s%s%s%s", diag->file,
                   first->line, first->column, first->path,
                   first->path[0] != '\0' ? ": " : "", first->text,
                   first->hint != NULL ? "; " : "",
                   first->hint != NULL ? first->hint : "");
}

enum ht_status slurm_read_defaults(struct arena *arena, const char *text,
                                   size_t len, const char *path,
                                   struct job_slurm *defaults,
                                   struct ht_error *err)
{
    struct diag diag;
    const struct field_reader reader = {.diag = &diag, .arena = arena};
    struct job_slurm read = {0};
    diag_init(&diag, arena, path, text, len);
    const struct node *root = node_read_yaml(arena, text, len, &diag);
    if (root != NULL)
        field_read_map(&reader, (struct place){root, ""}, job_slurm_rows,
                       &read);
    if (diag.errors > 0)
        return fail(&diag, err);
    *defaults = read;
    return HT_OK;
}

static void fill(const char **said, const char *fallback)
{
    if (*said == NULL)
        *said = fallback;
}

static struct strings join(struct arena *arena, const struct strings *first,
                           const struct strings *second)
{
    const size_t n = first->n + second->n;
    const char **items = arena_alloc(arena, n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = i < first->n ? first->items[i] : second->items[i - first->n];
    return (struct strings){n, items};
}

void slurm_apply_defaults(struct arena *arena, struct job_slurm *section,
                          const struct job_slurm *defaults)
{
    fill(&section->account, defaults->account);
    fill(&section->partition, defaults->partition);
    fill(&section->qos, defaults->qos);
    fill(&section->constraint, defaults->constraint);
    fill(&section->reservation, defaults->reservation);
    fill(&section->gres, defaults->gres);
    fill(&section->container, defaults->container);
    section->exclusive |= defaults->exclusive;
    if (section->time_ms == 0)
        section->time_ms = defaults->time_ms;
    if (section->trials_per_job == 0)
        section->trials_per_job = defaults->trials_per_job;
    if (section->modules.n == 0)
        section->modules = defaults->modules;
    section->options = join(arena, &defaults->options, &section->options);
}
