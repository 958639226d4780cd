#include "proto/form/foreign.h"

#include <ctype.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/form/native.h"
#include "proto/job/command.h"
#include "proto/job/job.h"

/* ---- growing a tree ---- */

static struct node *make(struct arena *arena, enum node_kind kind,
                         const char *text, const struct node *at)
{
    return node_new(arena, kind, text,
                    (struct node_place){at->line, at->column});
}

struct grown foreign_begin(struct arena *arena, enum node_kind kind,
                           const struct node *at)
{
    return (struct grown){.node = make(arena, kind, NULL, at)};
}

void foreign_put(struct arena *arena, struct grown *to, const char *key,
                 const struct node *value)
{
    struct node *copy = arena_alloc(arena, 1, sizeof *copy);
    *copy = *value;
    copy->next = NULL;
    copy->key = key;
    if (key != NULL && copy->key_line == 0) {
        copy->key_line = value->line;
        copy->key_column = value->column;
    }
    node_append(to->node, &to->tail, copy);
}

void foreign_put_text(struct arena *arena, struct grown *to, const char *key,
                      const char *text, const struct node *at)
{
    foreign_put(arena, to, key,
                make(arena, NODE_STRING, arena_strdup(arena, text), at));
}

void foreign_put_number(struct arena *arena, struct grown *to, const char *key,
                        double value, const struct node *at)
{
    char text[TEXT_DOUBLE_BYTES];
    foreign_put(arena, to, key,
                make(arena, NODE_NUMBER,
                     arena_strdup(arena, text_of_double(text, value)), at));
}

void foreign_move(struct arena *arena, struct grown *to, const char *key,
                  struct place at)
{
    if (at.node != NULL)
        foreign_put(arena, to, key, at.node);
}

/* ---- reading ---- */

void foreign_no_effect(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    (void)into;
    field_warning(reader, at, "has no effect here");
}

bool foreign_number(const struct field_reader *reader, struct place at,
                    double *value)
{
    if (at.node != NULL && node_double(at.node, value))
        return true;
    return at.node != NULL && field_wrong_kind(reader, at, "a number");
}

static bool is_identifier(const char *text)
{
    const char *c = text;
    while (isalnum((unsigned char)*c) || *c == '_')
        c++;
    return *c == '\0' && !isdigit((unsigned char)text[0]);
}

void foreign_warn_of_reports(const struct field_reader *reader,
                             struct place metric, const char *theirs)
{
    const char *name = metric.node->text;
    field_warning(reader, metric, "what the trainer gives to %s is not read",
                  theirs);
    diag_hint(reader->diag,
              is_identifier(name)
                  ? "call hypertune.report(%s=...) as well, or read what it "
                    "prints: --metric '%s={%s}'"
                  : "call hypertune.report(**{\"%s\": ...}) as well, or read "
                    "what it prints: --metric '%s={%s}'",
              name, name, name);
}

bool foreign_is_literal(const struct field_reader *reader, struct place at,
                        const struct node *space)
{
    const char *text = at.node->text;
    if (text == NULL)
        return field_wrong_kind(reader, at, "text");
    for (const char *c = strstr(text, "${"); c; c = strstr(c + 2, "${")) {
        const size_t len = strcspn(c + 2, "}");
        if (c[2 + len] == '\0' ||
            !node_find(space, arena_strndup(reader->arena, c + 2, len)))
            continue;
        field_error(reader, at, "%.*s would be replaced by the parameter here",
                    (int)len + 3, c);
        diag_hint(reader->diag, "give the parameter another name");
        return false;
    }
    return true;
}

static bool is_of_a_name(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("_.-", c));
}

void foreign_put_name(struct arena *arena, struct grown *to, struct place at)
{
    const char *said = at.node != NULL ? at.node->text : NULL;
    if (said == NULL || said[0] == '\0') {
        foreign_move(arena, to, "name", at);
        return;
    }
    char *name = arena_strdup(arena, said);
    for (char *c = name; *c; c++)
        if (!is_of_a_name(*c) || (c == name && *c == '-'))
            *c = '_';
    struct node node = *at.node;
    node.kind = NODE_STRING;
    node.text = name;
    foreign_put(arena, to, "name", &node);
}

/* ---- the job ---- */

static bool is_at(const struct node *node, const struct diag_item *item)
{
    return (node->line == item->line && node->column == item->column) ||
           (node->key_line == item->line && node->key_column == item->column);
}

/* The path, below `node`, of the value or the key at the place of the item,
 * NULL: none is there. */
static const char *path_at(struct arena *arena, const struct node *node,
                           const struct diag_item *item)
{
    size_t index = 0;
    NODE_EACH (one, node_items(node)) {
        const char *rest = path_at(arena, one, item);
        if (rest != NULL || is_at(one, item))
            return arena_printf(
                arena, "%s%s%s",
                one->key != NULL ? one->key
                                 : arena_printf(arena, "[%zu]", index),
                rest != NULL && rest[0] != '[' ? "." : "", rest ? rest : "");
        index++;
    }
    return NULL;
}

/* Faults of the native form name its fields; the file has other names. */
static void rename_faults(const struct foreign *foreign, struct diag *diag,
                          struct diag_item *item)
{
    const struct node *root = foreign->root;
    for (; item != NULL; item = item->next) {
        const bool whole =
            item->line == root->line && item->column == root->column;
        const char *path = whole ? NULL : path_at(diag->arena, root, item);
        if (path != NULL)
            item->path = path;
    }
}

/* Passing all of them by ourselves comes to the same where all are mentioned,
 * and suits a command that replaces the file's. */
static enum job_args_mode args_mode(const struct job *job)
{
    bool used[HT_MAX_PARAMETERS] = {false};
    for (size_t i = 0; i < job->n_pools; i++)
        command_mark_used(&job->space, &job->pools[i], used);
    for (size_t i = 0; i < job->space.n; i++)
        if (!used[i])
            return ARGS_NONE;
    return ARGS_AUTO;
}

struct job *foreign_finish(const struct foreign *foreign, struct diag *diag)
{
    struct diag_item **const added = diag->last;
    if (diag->errors > 0)
        return NULL;
    struct job *job =
        native_read_with_args(foreign->native, foreign->args, diag);
    rename_faults(foreign, diag, *added);
    if (job == NULL)
        return NULL;
    job->args_mode = args_mode(job);
    if (foreign->display != NULL && job->name != NULL &&
        strcmp(foreign->display, job->name) != 0)
        job->display = foreign->display;
    return job;
}
