/* aip_samples.h - jobs of the AI Platform form as users bring them along, from
 * tests/specs/aip. */
#ifndef HT_TESTS_UNIT_PROTO_FORM_AIP_SAMPLES_H
#define HT_TESTS_UNIT_PROTO_FORM_AIP_SAMPLES_H

#include "proto/doc/json.h"
#include "proto/job/job.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

#define SAMPLES "tests/specs/aip"

static struct arena *arena;

static inline struct job *read_text(const char *text, struct diag *diag)
{
    return spec_read(arena, aip_read, text, diag);
}

static inline const char *read_sample(const char *name)
{
    return spec_file(arena, arena_printf(arena, SAMPLES "/%s", name));
}

static inline struct job *sample(const char *name, struct diag *diag)
{
    struct job *job = read_text(read_sample(name), diag);
    if (job == NULL) {
        struct text out = {0};
        diag_print(diag, &out);
        CHECK_TEXT(out.data, name);
        text_free(&out);
    }
    return job;
}

static inline const struct node *parse(cJSON *tree, struct diag *diag)
{
    struct text json = {0};
    json_print(tree, &json);
    const char *text = arena_strdup(arena, json.data);
    text_free(&json);
    diag_init(diag, arena, "spec", text, strlen(text));
    return node_read(arena, text, strlen(text), diag);
}

#endif
