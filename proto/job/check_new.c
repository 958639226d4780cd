/* check_new.c - what Google demands of a new resource. */

#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/check.h"

enum {
    MAX_DISPLAY = 128, /* characters, as Google counts them */
    MAX_LABEL = 64,    /* of a key or a value */
    MAX_VARIABLES = 100
};

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Lower case, digits, _ and -, and whatever is outside ASCII. */
static bool is_label_text(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x80 && strchr(letters, *text) == NULL)
            return false;
    return true;
}

static const char *label_fault(const char *text)
{
    if (characters(text) > MAX_LABEL)
        return "is over 64 characters";
    return is_label_text(text)
               ? NULL
               : "may have lower-case letters, digits, _ and - only";
}

static void check_label(const struct field_reader *reader, struct place at)
{
    const char *key = at.node->key;
    const char *key_fault = key[0] == '\0' ? "is empty" : label_fault(key);
    const char *value = node_string(at.node);
    const char *value_fault = value != NULL ? label_fault(value) : NULL;
    if (key_fault != NULL)
        field_key_error(reader, at, "the key %s", key_fault);
    else if (value_fault != NULL)
        field_error(reader, at, "the value %s", value_fault);
}

void job_check_labels(const struct field_reader *reader, struct place root)
{
    const struct place at = field_member(reader, root, "labels");
    if (at.node == NULL || at.node->kind != NODE_MAP)
        return;
    for (const struct place *item = field_members(reader, at); item->node;
         item++)
        check_label(reader, *item);
}

static void check_variables(const struct field_reader *reader,
                            struct place pool, const char *task)
{
    const struct place spec = field_member(reader, pool, task);
    if (spec.node == NULL || spec.node->kind != NODE_MAP)
        return;
    const struct place env = field_member(reader, spec, "env");
    if (env.node != NULL && env.node->kind == NODE_LIST &&
        env.node->count > MAX_VARIABLES && env.node->count <= HT_MAX_ENV)
        field_error(reader, env, "has %zu variables, at most %d",
                    env.node->count, MAX_VARIABLES);
}

static void check_pools(const struct field_reader *reader, struct place root,
                        const char *spec)
{
    const struct place job = field_member(reader, root, spec);
    if (job.node == NULL || job.node->kind != NODE_MAP)
        return;
    const struct place at = field_member(reader, job, "workerPoolSpecs");
    if (at.node == NULL || at.node->kind != NODE_LIST)
        return;
    for (const struct place *item = field_items(reader, at); item->node;
         item++) {
        check_variables(reader, *item, "containerSpec");
        check_variables(reader, *item, "pythonPackageSpec");
    }
}

void job_check_new(const struct field_reader *reader, struct place root)
{
    if (root.node->kind != NODE_MAP)
        return;
    const struct place display = field_member(reader, root, "displayName");
    const struct place ours = field_member(reader, root, "hypertune");
    const char *text = node_string(display.node);
    const bool named = ours.node != NULL && node_find(ours.node, "name");
    if ((display.node == NULL || (text && text[0] == '\0')) && !named)
        field_missing(reader, root, "displayName", NULL);
    else if (text != NULL && characters(text) > MAX_DISPLAY)
        field_error(reader, display, "is over %d characters", MAX_DISPLAY);
    if (named)
        job_check_new_name(reader, field_member(reader, ours, "name"));
    job_check_labels(reader, root);
    check_pools(reader, root, "trialJobSpec");
    check_pools(reader, root, "jobSpec");
}
