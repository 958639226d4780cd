/* Any bytes as a spec, native and Vertex: a refusal is explained, and what is
 * accepted survives being stored and draws points inside its space. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/job.h"
#include "proto/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_points(struct arena *arena, const struct space *space)
{
    struct value *point = arena_alloc(arena, space->n, sizeof *point);
    struct value *back = arena_alloc(arena, space->n, sizeof *back);
    static const double at[] = {0, 0.3, 0.5, 0.999999};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        struct text text = {0};
        for (size_t i = 0; i < space->n; i++)
            point[i] = param_from_unit(&space->params[i], at[k]);
        point_text(space, point, &text);
        if (point_parse(space, text.data, back, NULL) != HT_OK)
            abort();
        for (size_t i = 0; i < space->n; i++)
            if (!value_equal(&space->params[i], point[i], back[i]))
                abort();
        text_free(&text);
    }
}

static void check_job(struct arena *arena, const struct job *job)
{
    struct text json = {0}, diff = {0};
    struct job *back;
    json_print(job_write_vertex(job), &json);
    if (job_parse(arena, json.data, &back, NULL) != HT_OK ||
        job_diff(job, back, &diff) != 0)
        abort();
    check_points(arena, &job->space);
    text_free(&json);
    text_free(&diff);
}

static void check_reader(struct job *(*reader)(const struct node *,
                                               struct diag *),
                         const char *text, size_t len)
{
    struct arena *arena = arena_new();
    struct diag diag;
    struct text shown = {0};
    diag_init(&diag, arena, "spec", text, len);
    const struct node *root = node_read(arena, text, len, &diag);
    const struct job *job = root ? reader(root, &diag) : NULL;
    if ((job == NULL) != (diag.errors > 0))
        abort();
    diag_print(&diag, &shown);
    if (job)
        check_job(arena, job);
    text_free(&shown);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_init();
    char *text = malloc(size + 1); /* exact, so that overreads are seen */
    memcpy(text, data, size);
    text = realloc(text, size > 0 ? size : 1);
    check_reader(job_read_native, text, size);
    check_reader(job_read_vertex, text, size);
    free(text);
    return 0;
}
