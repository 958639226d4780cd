/* field_variable.c - the variables `${NAME}` in the text of a field. */

#include <ctype.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"

bool field_is_word(const struct field_reader *reader, struct place at,
                   const char *text)
{
    size_t len = strlen(text);
    if (len <= HT_MAX_WORD)
        return true;
    field_error(reader, at, "has %zu bytes, no program takes more than %d", len,
                HT_MAX_WORD);
    return false;
}

static bool is_variable(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* The runner sets these for our own programs in a trial; the two by which a
 * client finds its server are free. */
static bool is_reserved(const char *name)
{
    return strncmp(name, "HYPERTUNE_", 10) == 0 &&
           strcmp(name, "HYPERTUNE_SERVER") != 0 &&
           strcmp(name, "HYPERTUNE_TOKEN_FILE") != 0;
}

/* Who a replica is, in Google's words: the runner's last say. */
static bool is_overridden(const char *name)
{
    static const char *const names[] = {
        /* of both services, of AI Platform, of Vertex */
        "CLUSTER_SPEC",
        "TF_CONFIG",
        "CLOUD_ML_JOB_ID",
        "CLOUD_ML_TRIAL_ID",
        "CLOUD_ML_HP_METRIC_FILE",
        "CLOUD_ML_HP_METRIC_TAG",
        "AIP_MODEL_DIR",
        "AIP_CHECKPOINT_DIR",
        "AIP_TENSORBOARD_LOG_DIR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool field_is_variable(const struct field_reader *reader, struct place at,
                       const char *name)
{
    if (!is_variable(name)) {
        field_key_error(reader, at, "\"%s\" cannot name a variable", name);
        diag_hint(reader->diag,
                  "a letter or _ first, then letters, digits and _");
        return false;
    }
    if (is_reserved(name)) {
        field_key_error(reader, at, "%s is the runner's own to set", name);
        return false;
    }
    if (is_overridden(name))
        field_warning(reader, at,
                      "each replica gets its own %s: this has no effect", name);
    return true;
}

void field_variables(const struct field_reader *reader, struct place at,
                     const struct field *field, void *into)
{
    size_t before = reader->diag->errors;
    if (at.node->kind == NODE_MAP)
        for (const struct place *item = field_members(reader, at); item->node;
             item++)
            field_is_variable(reader, *item, item->node->key);
    if (reader->diag->errors == before)
        field_pairs(reader, at, field, into);
}

void field_variable_names(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    struct strings *names = into;
    struct strings read = {0};
    size_t before = reader->diag->errors;
    if (!field_read_texts(reader, at, (size_t)field->max, false, &read))
        return;
    for (const struct place *item = field_items(reader, at); item->node; item++)
        field_is_variable(reader, *item, item->node->text);
    if (reader->diag->errors == before)
        *names = read;
}
