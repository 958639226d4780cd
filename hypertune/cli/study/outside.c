#include "hypertune/cli/study/outside.h"

#include <string.h>

#include "proto/form/form.h"

bool cli_outside_is(const struct node *trial)
{
    return node_get_bool(node_find(trial, "hypertune"), "outside", false);
}

/* Of parameters that share a name one may have the value. */
static bool may_be(const struct space *space, const struct node *value)
{
    struct value read;
    for (size_t i = 0; i < space->n; i++)
        if (strcmp(space->params[i].name, value->key) == 0 &&
            space_param_read(&space->params[i], value, &read, NULL) == HT_OK)
            return true;
    return false;
}

void cli_outside_add(const struct cli_study *study, const struct node *trial,
                     struct text *out)
{
    if (!cli_outside_is(trial))
        return;
    struct arena *arena = arena_new();
    struct diag diag;
    size_t n = 0;
    diag_init(&diag, arena, study->name, NULL, 0);
    const struct job *job = vertex_read(study->job, study->home->kind, &diag);
    const struct node *ours = node_find(trial, "hypertune");
    NODE_EACH (value, job != NULL ? node_first(ours, "params") : NULL)
        if (!may_be(&job->space, value))
            text_print_safe(out, "%s%s", n++ > 0 ? ", " : "", value->key);
    if (n == 0)
        text_puts(out, "constraints");
    arena_free(arena);
}
