#include <string.h>

#include "proto/job_check.h"
#include "proto/node.h"

enum {
    MAX_DISPLAY = 128, /* characters, as Google counts them */
    MAX_LABEL = 64     /* of a key or a value */
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

static const char *fault_of(const char *text)
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
    const char *key_fault = key[0] == '\0' ? "is empty" : fault_of(key);
    const char *value = node_string(at.node);
    const char *value_fault = value != NULL ? fault_of(value) : NULL;
    if (key_fault != NULL)
        field_key_error(reader, at, "the key %s", key_fault);
    else if (value_fault != NULL)
        field_error(reader, at, "the value %s", value_fault);
}

void job_check_new(const struct field_reader *reader, struct place root)
{
    const struct place labels = field_member(reader, root, "labels");
    const struct place display = field_member(reader, root, "displayName");
    const struct place ours = field_member(reader, root, "hypertune");
    const char *text = node_string(display.node);
    const bool named = ours.node != NULL && node_find(ours.node, "name");
    if ((display.node == NULL || (text && text[0] == '\0')) && !named)
        field_missing(reader, root, "displayName", NULL);
    else if (text != NULL && characters(text) > MAX_DISPLAY)
        field_error(reader, display, "is over %d characters", MAX_DISPLAY);
    if (labels.node == NULL || labels.node->kind != NODE_MAP)
        return;
    for (const struct node *node = labels.node->first; node != NULL;
         node = node->next)
        check_label(reader, field_member(reader, labels, node->key));
}
