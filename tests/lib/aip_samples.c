#include "tests/lib/aip_samples.h"

#include <string.h>

#include "proto/form/form.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

struct job *aip_read_text(struct arena *arena, const char *text,
                          struct diag *diag)
{
    return spec_read(arena, aip_read, text, diag);
}

const char *aip_read_sample(struct arena *arena, const char *name)
{
    return spec_file(arena, arena_printf(arena, AIP_SAMPLES "/%s", name));
}

struct job *aip_sample(struct arena *arena, const char *name, struct diag *diag)
{
    struct job *job = aip_read_text(arena, aip_read_sample(arena, name), diag);
    if (job == NULL) {
        struct text out = {0};
        diag_print(diag, &out);
        CHECK_TEXT(out.data, name);
        text_free(&out);
    }
    return job;
}

const struct node *aip_parse(struct arena *arena, cJSON *tree,
                             struct diag *diag)
{
    struct text json = {0};
    json_print(tree, &json);
    const char *text = arena_strdup(arena, json.data);
    text_free(&json);
    diag_init(diag, arena, "spec", text, strlen(text));
    return node_read(arena, text, strlen(text), diag);
}
