#include "tuner/api/metadata.h"
#include "tuner/ask/faults.h"

#include <string.h>

#include "tuner/api/notes.h"
#include "tuner/ask/trial_body.h"
#include "tuner/db/notes.h"

enum {
    MOST_ITEMS = 1000, /* of one request */
    MOST_KEY = 1024,   /* bytes */
    MOST_NS = 128      /* bytes */
};

#define METADATA_ROW(member) offsetof(struct metadata_row, member)

static const struct field item_fields[] = {
    {"trial", field_whole, METADATA_ROW(trial), .min = 0,
     .max = HT_MAX_TRIAL_ID},
    {"ns", field_text, .offset = METADATA_ROW(ns)},
    {"key", field_text, .offset = METADATA_ROW(key)},
    {"value", field_text, .offset = METADATA_ROW(value)},
    {0}};

static void read_item(const struct field_reader *reader, struct place at,
                      struct metadata_row *row)
{
    *row = (struct metadata_row){.ns = ""};
    field_read_map(reader, at, item_fields, row);
    if (at.node->kind != NODE_MAP)
        return;
    if (row->key == NULL)
        field_missing(reader, at, "key", NULL);
    else if (strlen(row->key) > MOST_KEY || strlen(row->ns) > MOST_NS)
        field_error(reader, at,
                    "has a key over %d or a namespace over %d bytes", MOST_KEY,
                    MOST_NS);
    else if (strcmp(row->ns, NOTES_NS) == 0)
        notes_check_row(reader, at, row);
}

void metadata_read(const struct field_reader *reader, struct place at,
                   struct metadata_list *list)
{
    size_t index = 0;
    const size_t n = trial_body_count(reader, at, MOST_ITEMS);
    if (n == 0)
        return;
    list->rows = arena_alloc(reader->arena, n, sizeof *list->rows);
    NODE_EACH (node, at.node->first)
        read_item(reader, field_item(reader, at, node, index++),
                  &list->rows[list->n++]);
}

enum ht_status metadata_store(struct method_call *call,
                              const struct metadata_list *list,
                              struct ht_error *err)
{
    const int64_t study = call->study.id;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < list->n; i++) {
        struct metadata_row row = list->rows[i];
        struct trial_row trial;
        if (row.value == NULL)
            row.value = "";
        if (row.trial > 0)
            status = db_trial_get(call->db, call->arena, study, row.trial,
                                  &trial, err);
        if (status == HT_OK)
            status = strcmp(row.ns, NOTES_NS) == 0
                         ? notes_store(call, &row, err)
                         : db_metadata_set(call->db, study, &row, err);
    }
    return status;
}

/* --- PATCH --- */

struct change {
    struct place metadata, expect;
};

static const struct field change_fields[] = {
    {"metadata", field_place, .offset = offsetof(struct change, metadata)},
    {"expect", field_place, .offset = offsetof(struct change, expect)},
    {0}};

/* A client that lost a race learns it before anything of it is written. */
static enum ht_status check_expected(const struct method_call *call,
                                     const struct metadata_list *list,
                                     struct ht_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct metadata_row *row = &list->rows[i];
        const char *value;
        const enum ht_status status = db_metadata_get(
            call->db, call->arena, call->study.id, row, &value, err);
        if (status != HT_OK)
            return status;
        const bool same = value == NULL || row->value == NULL
                              ? value == row->value
                              : strcmp(value, row->value) == 0;
        if (!same)
            return ht_fail(err, HT_CONFLICT,
                           "%.64s of trial %lld has changed meanwhile",
                           row->key, (long long)row->trial);
    }
    return HT_OK;
}

static enum ht_status change_metadata(struct method_call *call,
                                      struct ht_error *err)
{
    struct change change = {0};
    struct metadata_list wanted = {0}, expected = {0};
    enum ht_status status =
        trial_body_read(call->req, change_fields, &change, err);
    if (status != HT_OK)
        return status;
    const struct field_reader reader = trial_body_reader(call->req);
    metadata_read(&reader, change.metadata, &wanted);
    metadata_read(&reader, change.expect, &expected);
    status = faults_check(call->req, err);
    if (status == HT_OK)
        status = check_expected(call, &expected, err);
    return status == HT_OK ? metadata_store(call, &wanted, err) : status;
}

METHOD(metadata_change, METHOD_STUDY, change_metadata, method_reply_empty)
