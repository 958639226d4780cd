#include "proto/job/run_on.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"

#define RUN_ON(member) offsetof(struct job_run_on, member)

/* ---- labels ---- */

static bool is_word(const char *text)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && strchr("._/-", text[i]) == NULL)
            return false;
    return len > 0 && len <= HT_MAX_NAME;
}

static const char word_fault[] =
    "has other than letters, digits and . _ / -, or more than 128 of them";

static bool is_known(const struct pair *items, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(items[i].name, name) == 0)
            return true;
    return false;
}

static enum ht_status add_label(struct arena *arena, const char *label,
                                size_t len, struct pair *items, size_t *n,
                                struct ht_error *err)
{
    const char *equals = memchr(label, '=', len);
    if (equals == NULL)
        return ht_fail(err, HT_INVALID, "\"%.*s\" is no label such as k=v",
                       (int)(len < HT_MAX_NAME ? len : HT_MAX_NAME), label);
    const size_t key = (size_t)(equals - label);
    const struct pair pair = {arena_strndup(arena, label, key),
                              arena_strndup(arena, equals + 1, len - key - 1)};
    if (!is_word(pair.name) || !is_word(pair.value))
        return ht_fail(err, HT_INVALID, "the label \"%.*s\" %s",
                       (int)(len < HT_MAX_NAME ? len : HT_MAX_NAME), label,
                       word_fault);
    if (is_known(items, *n, pair.name))
        return ht_fail(err, HT_INVALID, "the label %s is given twice",
                       pair.name);
    if (*n == RUN_ON_LABELS)
        return ht_fail(err, HT_INVALID, "more than %d labels", RUN_ON_LABELS);
    items[(*n)++] = pair;
    return HT_OK;
}

enum ht_status run_on_labels(struct arena *arena, const char *text,
                             struct pairs *labels, struct ht_error *err)
{
    struct pair *items = arena_alloc(arena, RUN_ON_LABELS, sizeof *items);
    size_t n = 0;
    for (;;) {
        const size_t len = strcspn(text, ",");
        const enum ht_status status =
            add_label(arena, text, len, items, &n, err);
        if (status != HT_OK)
            return status;
        if (text[len] == '\0')
            break;
        text += len + 1;
    }
    *labels = (struct pairs){.n = n, .items = items};
    return HT_OK;
}

/* {k: v}, or the text that --label takes. */
static void read_labels(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    struct ht_error err;
    const char *text = node_string(at.node);
    if (text != NULL) {
        if (run_on_labels(reader->arena, text, into, &err) != HT_OK)
            field_error(reader, at, "%s", err.text);
        return;
    }
    const size_t before = reader->diag->errors;
    const struct pairs *labels = into;
    field_pairs(reader, at, field, into);
    for (size_t i = 0; reader->diag->errors == before && i < labels->n; i++)
        if (!is_word(labels->items[i].name) || !is_word(labels->items[i].value))
            field_error(reader, at, "the label \"%.64s=%.64s\" %s",
                        labels->items[i].name, labels->items[i].value,
                        word_fault);
}

static const char *name_fault(const char *word)
{
    return is_word(word) ? NULL : word_fault;
}

/* Models have blanks in their names: "RTX 4090". */
static const char *model_fault(const char *word)
{
    for (const char *at = word; *at != '\0'; at++)
        if (iscntrl((unsigned char)*at))
            return "has a control character";
    return *word != '\0' && strlen(word) <= HT_MAX_NAME ? NULL : word_fault;
}

const struct field job_run_on_rows[] = {
    {"engine", field_word, RUN_ON(engine), .fault = name_fault},
    {"gpu", field_word, RUN_ON(gpu), .fault = model_fault},
    {"label", read_labels, RUN_ON(labels), .max = RUN_ON_LABELS},
    {"machine", field_word, RUN_ON(machine), .fault = name_fault},
    {0}};

/* ---- GPUs ---- */

void job_gpu_part(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    double part;
    (void)field;
    if (!field_read_real(reader, at, &part))
        return;
    if (!(part > 0 && part <= 1))
        field_error(reader, at, "must be more than 0 and at most 1, is %s",
                    at.node->text);
    else
        *(double *)into = part;
}

void job_gpu_finish(const struct field_reader *reader, struct place at,
                    struct pool *pool)
{
    if (pool->gpu_part <= 0)
        return;
    if (pool->gpus > 0)
        field_error(reader, at, "is a part of one GPU, and gpus asks for %lld",
                    (long long)pool->gpus);
    if (pool->gpu_part == 1) {
        pool->gpus = 1;
        pool->gpu_part = 0;
    }
}

/* ---- sections of an engine ---- */

void job_run_on_section(const struct field_reader *reader, struct place at,
                        const char *engine, const char *product,
                        struct job_run_on *run_on)
{
    if (run_on->engine == NULL)
        run_on->engine = engine;
    else if (strcmp(run_on->engine, engine) != 0)
        field_error(reader, at, "is for %s, and runOn asks for the engine %s",
                    product, run_on->engine);
}

/* ---- writing ---- */

void job_run_on_write(cJSON *object, const struct job *job)
{
    const struct job_run_on *run_on = &job->run_on;
    cJSON *map = cJSON_CreateObject();
    json_add_text(map, "engine", run_on->engine);
    json_add_text(map, "gpu", run_on->gpu);
    json_add_pairs(map, "label", &run_on->labels);
    json_add_text(map, "machine", run_on->machine);
    json_add_filled(object, "runOn", map);
    if (job->priority != 0)
        json_add_int(object, "priority", job->priority);
}
