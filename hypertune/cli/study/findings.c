#include "hypertune/cli/study/findings.h"

#include <string.h>

#include "proto/base/arena.h"

const struct node *cli_findings_get(struct cli *cli,
                                    const struct cli_study *study)
{
    struct cli_http_answer answer;
    const char *path = cli_study_path(cli, study->name, "/health");
    if (study->home->kind == JOB_CUSTOM ||
        cli_call(cli, "GET", path, NULL, &answer, NULL) != HT_OK)
        return NULL;
    const struct node *findings = node_find(answer.root, "findings");
    return node_items(findings) == NULL ? NULL : findings;
}

void cli_findings_describe(struct cli *cli, const struct node *findings,
                           struct text *out)
{
    const struct node *first = node_items(findings);
    NODE_EACH (one, first) {
        const char *command = node_get_string(one, "command", NULL);
        text_print_safe(out, "%s%s\n",
                        one == first ? "findings    " : "            ",
                        node_get_string(one, "text", ""));
        if (command != NULL)
            text_print_safe(out, "              %s%s\n", command,
                            cli_where(cli));
    }
}

/* A copy of the map with one more member, or another one of that name. */
static struct node *with_member(struct arena *arena, const struct node *map,
                                const char *key, const struct node *value)
{
    struct node *copy = arena_alloc(arena, 1, sizeof *copy);
    *copy = *map;
    copy->count = 0;
    struct node **next = &copy->first;
    NODE_EACH (child, map->first) {
        if (strcmp(child->key, key) == 0)
            continue;
        *next = arena_alloc(arena, 1, sizeof **next);
        **next = *child;
        next = &(*next)->next;
        copy->count++;
    }
    *next = arena_alloc(arena, 1, sizeof **next);
    **next = *value;
    (*next)->key = key;
    (*next)->next = NULL;
    copy->count++;
    return copy;
}

const struct node *cli_findings_join(struct cli *cli,
                                     const struct cli_study *study,
                                     const struct node *findings)
{
    if (findings == NULL)
        return study->job;
    const struct node *status =
        with_member(cli->arena, study->status, "findings", findings);
    return with_member(cli->arena, study->job, "hypertuneStatus", status);
}
