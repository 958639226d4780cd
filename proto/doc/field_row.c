/* field_row.c - the readers that the rows of a table name: numbers, texts,
 * lists, durations, choices. */

#include "proto/doc/field.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/number.h"

/* Ten years: longer is a slip of the pen, and sums stay far from int64. */
static const int64_t longest_ms = INT64_C(10) * 366 * 24 * 3600 * 1000;

void field_map(const struct field_reader *reader, struct place at,
               const struct field *field, void *into)
{
    field_read_map(reader, at, field->rows, into);
}

static bool is_scalar(const struct node *node)
{
    return node->kind == NODE_STRING || node->kind == NODE_NUMBER ||
           node->kind == NODE_BOOL;
}

/* Adds "must be WANTED, is VALUE" for a value that may be a number. */
static void wrong_number(const struct field_reader *reader, struct place at,
                         const char *wanted)
{
    if (at.node->kind == NODE_NUMBER)
        field_error(reader, at, "must be %s, is %s", wanted, at.node->text);
    else if (at.node->kind == NODE_STRING)
        field_error(reader, at, "must be %s, is \"%.64s\"", wanted,
                    at.node->text);
    else
        field_wrong_kind(reader, at, wanted);
}

void field_whole(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    int64_t value;
    if (!node_int64(at.node, &value))
        wrong_number(reader, at, "a whole number");
    else if (value < field->min && field->max == INT64_MAX)
        field_error(reader, at, "must be at least %" PRId64 ", is %" PRId64,
                    field->min, value);
    else if (value < field->min || value > field->max)
        field_error(reader, at,
                    "must be from %" PRId64 " to %" PRId64 ", is %" PRId64,
                    field->min, field->max, value);
    else
        *(int64_t *)into = value;
}

bool field_read_real(const struct field_reader *reader, struct place at,
                     double *value)
{
    if (node_double(at.node, value))
        return true;
    if (at.node->kind == NODE_NUMBER)
        field_error(reader, at, "%s is beyond the range of a double",
                    at.node->text);
    else
        wrong_number(reader, at, "a number");
    return false;
}

void field_real(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    double value;
    const bool bounded = field->max > field->min;
    if (!field_read_real(reader, at, &value))
        return;
    if (bounded && (value < (double)field->min || value > (double)field->max))
        field_error(reader, at,
                    "must be from %" PRId64 " to %" PRId64 ", is %s",
                    field->min, field->max, at.node->text);
    else
        *(double *)into = value;
}

void field_flag(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    (void)field;
    if (!node_bool(at.node, into))
        field_wrong_kind(reader, at, "true or false");
}

void field_text(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    (void)field;
    const char *text = node_string(at.node);
    if (text == NULL)
        field_wrong_kind(reader, at, "text");
    else
        *(const char **)into = text;
}

void field_word(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    const char *word = node_string(at.node);
    const char *fault = word ? field->fault(word) : NULL;
    if (word == NULL)
        field_wrong_kind(reader, at, "text");
    else if (fault && word[0] == '\0')
        field_error(reader, at, "is empty");
    else if (fault)
        field_error(reader, at, "\"%.*s\" %s", HT_MAX_NAME, word, fault);
    else
        *(const char **)into = word;
}

bool field_is_name(const struct field_reader *reader, struct place at,
                   const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    size_t len = strlen(name), good = strspn(name, allowed);
    if (len == 0) {
        field_error(reader, at, "a name cannot be empty");
    } else if (len > HT_MAX_NAME) {
        field_error(reader, at, "a name has at most %d bytes, this has %zu",
                    HT_MAX_NAME, len);
    } else if (good < len) {
        field_error(reader, at, "the name \"%s\" has an illegal character",
                    name);
        diag_hint(reader->diag, "letters, digits and _ . / - are allowed");
    } else {
        return true;
    }
    return false;
}

typedef bool name_check(const struct field_reader *reader, struct place at,
                        const char *name);

/* A name may look like a number ("name: 7"): its text is what counts. */
static void read_name(const struct field_reader *reader, struct place at,
                      name_check *is_good, void *into)
{
    if (at.node->kind != NODE_STRING && at.node->kind != NODE_NUMBER)
        field_wrong_kind(reader, at, "a name");
    else if (is_good(reader, at, at.node->text))
        *(const char **)into = at.node->text;
}

void field_name(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    (void)field;
    read_name(reader, at, field_is_name, into);
}

bool field_is_metric(const struct field_reader *reader, struct place at,
                     const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > HT_MAX_NAME) {
        field_error(reader, at, "a metric's name has 1 to %d bytes, not %zu",
                    HT_MAX_NAME, len);
        return false;
    }
    bool control = false;
    for (const char *c = name; *c; c++)
        control = control || (unsigned char)*c < ' ' || *c == 0x7f;
    if (control || name[0] == ' ' || name[len - 1] == ' ') {
        field_error(reader, at,
                    "a metric's name has no control characters and no blank "
                    "at its ends");
        return false;
    }
    return true;
}

void field_metric(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    (void)field;
    read_name(reader, at, field_is_metric, into);
}

bool field_read_texts(const struct field_reader *reader, struct place at,
                      size_t most, bool scalars, struct strings *texts)
{
    if (at.node->kind != NODE_LIST) {
        field_wrong_kind(reader, at, "a list");
        if (is_scalar(at.node))
            diag_hint(reader->diag, "write [%s]", at.node->text);
        return false;
    }
    if (at.node->count > most) {
        field_error(reader, at, "has %zu items, at most %zu are allowed",
                    at.node->count, most);
        return false;
    }
    const char **words =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *words);
    size_t n = 0;
    for (const struct place *item = field_items(reader, at); item->node;
         item++) {
        const struct node *node = item->node;
        if (node->kind != NODE_STRING && !(scalars && is_scalar(node)))
            field_wrong_kind(reader, *item, "text");
        else if (field_is_word(reader, *item, node->text))
            words[n++] = node->text;
    }
    if (n < at.node->count)
        return false;
    *texts = (struct strings){.n = n, .items = words};
    return true;
}

void field_texts(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    field_read_texts(reader, at, (size_t)field->max, false, into);
}

void field_scalars(const struct field_reader *reader, struct place at,
                   const struct field *field, void *into)
{
    field_read_texts(reader, at, (size_t)field->max, true, into);
}

void field_pairs(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(reader, at, "a map of names to texts");
        return;
    }
    if (at.node->count > (size_t)field->max) {
        field_error(reader, at, "has %zu members, at most %" PRId64,
                    at.node->count, field->max);
        return;
    }
    struct pair *pairs =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *pairs);
    size_t n = 0;
    for (const struct place *item = field_members(reader, at); item->node;
         item++) {
        const struct node *node = item->node;
        if (reader->null_is_absent && node->kind != NODE_STRING)
            field_wrong_kind(reader, *item, "text");
        else if (!is_scalar(node))
            field_wrong_kind(reader, *item, "text or a number");
        else if (field_is_word(reader, *item, node->text))
            pairs[n++] = (struct pair){.name = node->key, .value = node->text};
    }
    *(struct pairs *)into = (struct pairs){n, pairs};
}

void field_bytes(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    int64_t bytes;
    if (at.node->kind != NODE_STRING && at.node->kind != NODE_NUMBER) {
        field_wrong_kind(reader, at, "a size");
    } else if (!number_bytes(at.node->text, &bytes)) {
        field_error(reader, at, "\"%s\" is no size", at.node->text);
        diag_hint(reader->diag, "write 512Mi, 2Gi, 1G or a number of bytes");
    } else if (bytes < field->min || bytes > field->max) {
        field_error(reader, at,
                    "must be from %" PRId64 " to %" PRId64
                    " bytes, is %" PRId64,
                    field->min, field->max, bytes);
    } else {
        *(int64_t *)into = bytes;
    }
}

/* protobuf's JSON has seconds only: "3600s", "1.5s". */
static bool is_seconds(const struct node *node)
{
    const char *text = node_string(node);
    if (text == NULL)
        return false;
    const size_t len = strspn(text, "0123456789.");
    return len > 0 && strcmp(text + len, "s") == 0;
}

void field_duration(const struct field_reader *reader, struct place at,
                    const struct field *field, void *into)
{
    bool scalar = at.node->kind == NODE_STRING || at.node->kind == NODE_NUMBER;
    int64_t ms;
    if (!scalar) {
        field_wrong_kind(reader, at, "a duration");
    } else if (reader->null_is_absent && !is_seconds(at.node)) {
        field_error(reader, at, "\"%s\" is no duration", at.node->text);
        diag_hint(reader->diag, "write seconds: 90s, 1.5s");
    } else if (!clock_read_duration(at.node->text, &ms)) {
        field_error(reader, at, "\"%s\" is no duration", at.node->text);
        diag_hint(reader->diag, "write 90s, 10m, 1.5h, 2h30m or 3d");
    } else if (ms < field->min || ms > longest_ms) {
        field_error(reader, at, "must be over 0 and at most ten years");
    } else {
        *(int64_t *)into = ms;
    }
}

void field_moment(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    (void)field;
    const char *text = node_string(at.node);
    int64_t ms;
    if (text == NULL) {
        field_wrong_kind(reader, at, "a time as text");
    } else if (!clock_read_stamp(text, &ms) || ms <= 0) {
        field_error(reader, at, "\"%s\" is no time after 1970", text);
        diag_hint(reader->diag, "write it as 2026-12-31T18:00:00Z");
    } else {
        *(int64_t *)into = ms;
    }
}

static const struct field_choice *find_choice(const struct field_choice *choice,
                                              const struct node *node)
{
    int64_t number;
    bool numbered = node->kind == NODE_NUMBER && node_int64(node, &number);
    if (node->kind != NODE_STRING && node->kind != NODE_NUMBER)
        return NULL;
    for (; choice->name; choice++) {
        if (numbered ? choice->number >= 0 && choice->number == number
                     : strcmp(choice->name, node->text) == 0)
            return choice;
    }
    return NULL;
}

/* None of the choices, or nothing that could be one. */
static void refuse_choice(const struct field_reader *reader, struct place at,
                          const struct field *field)
{
    const char *names[32] = {0};
    size_t n = 0;
    struct text list = {0};
    for (; field->choices[n].name && n < 31; n++) {
        names[n] = field->choices[n].name;
        text_printf(&list, "%s%s", n > 0 ? ", " : "", names[n]);
    }
    const char *meant = NULL;
    if (is_scalar(at.node) && at.node->kind != NODE_BOOL) {
        meant = field_meant(reader, at.node->text, names);
        field_error(reader, at, "unknown %s \"%s\"", field->name,
                    at.node->text);
    } else {
        field_wrong_kind(reader, at, "a name");
    }
    if (meant)
        diag_hint(reader->diag, "%s", meant);
    else
        diag_hint(reader->diag, "one of %s", list.data);
    text_free(&list);
}

const struct field_choice *field_choice(const struct field_reader *reader,
                                        struct place at,
                                        const struct field *field)
{
    const struct field_choice *choice = find_choice(field->choices, at.node);
    if (choice == NULL)
        refuse_choice(reader, at, field);
    else if (reader->numbered && at.node->kind == NODE_NUMBER)
        kept_add_name(reader->numbered, reader->arena, at, choice);
    return choice;
}

const char *field_choice_name(const struct field_choice *choice, int value)
{
    while (choice->value != value)
        choice++;
    return choice->name;
}

void field_choose(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    const struct field_choice *choice = field_choice(reader, at, field);
    if (choice)
        memcpy(into, &choice->value, sizeof choice->value);
}

void field_place(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    (void)field;
    (void)reader;
    *(struct place *)into = at;
}

void field_skip(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    (void)reader;
    (void)at;
    (void)field;
    (void)into;
}
