/* Every sample of the AI Platform form goes through all forms and comes back
 * the same. Runs in the source tree. */
#include "proto/form/form.h"
#include "tests/check.h"

#include <dirent.h>
#include <stdlib.h>

#include "tests/lib/aip_samples.h"

static struct arena *arena;

static const char *as_aip(const struct job *job)
{
    struct diag diag;
    struct text json = {0};
    diag_init(&diag, arena, "job", NULL, 0);
    json_print_pretty(aip_write(job, &diag), &json);
    const char *text = arena_strdup(arena, json.data);
    text_free(&json);
    return text;
}

/* Members of two documents may come in another order. */
static bool is_same_document(const char *a, const char *b)
{
    cJSON *one = cJSON_Parse(a), *other = cJSON_Parse(b);
    bool same = cJSON_Compare(one, other, true);
    cJSON_Delete(one);
    cJSON_Delete(other);
    return same;
}

static void same_job(const struct job *a, const struct job *b,
                     const char *where)
{
    struct text lines = {0};
    if (b == NULL)
        CHECK_TEXT("cannot be read back", where);
    else if (form_diff(a, b, &lines) != 0)
        CHECK_TEXT(lines.data, where);
    text_free(&lines);
}

/* A config whose command is a flag of gcloud gets one here. */
static void give_command(struct job *job)
{
    static const char *const words[] = {"python3", "train.py"};
    for (size_t i = 0; i < job->n_pools; i++)
        if (job->pools[i].image == NULL && job->pools[i].command.n == 0)
            job->pools[i].command = (struct strings){2, words};
}

/* The native form has no words for what is kept, and replaces ${name} where
 * AI Platform does not; no sample has one. */
static void goes_through_native(const struct job *job, const char *name)
{
    struct diag diag;
    struct job plain = *job;
    plain.kept = NULL;
    plain.substitute = true;
    same_job(&plain,
             native_read(aip_parse(arena, native_write(&plain), &diag), &diag),
             arena_printf(arena, "%s: native", name));
}

static void goes_through_all_forms(const char *name)
{
    struct diag diag;
    struct job *job = aip_sample(arena, name, &diag);
    if (job == NULL)
        return;
    give_command(job);
    const char *first = as_aip(job);
    const struct job *back = aip_read_text(arena, first, &diag);
    same_job(job, back, arena_printf(arena, "%s: AI Platform", name));
    if (back)
        CHECK_TEXT(as_aip(back), first);
    const struct job *vertex = vertex_read(
        aip_parse(arena, vertex_write(job), &diag), job->kind, &diag);
    same_job(job, vertex, arena_printf(arena, "%s: Vertex", name));
    if (vertex && !is_same_document(as_aip(vertex), first))
        CHECK_TEXT(as_aip(vertex), first);
    if (job->kind == JOB_TUNING)
        goes_through_native(job, name);
}

static int is_sample(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void every_sample_survives_all_forms(void)
{
    struct dirent **entries;
    int n = scandir(AIP_SAMPLES, &entries, is_sample, alphasort);
    CHECK(n >= 10);
    for (int i = 0; i < n; i++) {
        goes_through_all_forms(entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(every_sample_survives_all_forms);
    arena_free(arena);
    return check_done();
}
