/* aip_samples.h - jobs of the AI Platform form as users bring them along, from
 * tests/specs/aip. */
#ifndef HT_TESTS_UNIT_AIP_SAMPLES_H
#define HT_TESTS_UNIT_AIP_SAMPLES_H

#include <stdio.h>

#include "proto/job.h"
#include "proto/json.h"
#include "tests/check.h"

#define SAMPLES "tests/specs/aip"

static struct arena *arena;

static inline const struct node *read_node(const char *text, struct diag *diag)
{
    diag_init(diag, arena, "spec", text, strlen(text));
    return node_read(arena, text, strlen(text), diag);
}

static inline struct job *read_text(const char *text, struct diag *diag)
{
    const struct node *root = read_node(text, diag);
    return root ? job_read_aip(root, diag) : NULL;
}

static inline char *read_sample(const char *name)
{
    char path[300];
    struct text text = {0};
    char buffer[4096];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", SAMPLES, name);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (file && (n = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_append(&text, buffer, n);
    if (file)
        fclose(file);
    char *copy = arena_strdup(arena, text.data ? text.data : "");
    text_free(&text);
    return copy;
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
    return read_node(text, diag);
}

#endif
