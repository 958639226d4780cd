#include "tuner/api/notes.h"

#include <string.h>

#include "proto/doc/json.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/base/reason.h"
#include "tuner/db/notes.h"
#include "tuner/study/move.h"
#include "tuner/view/view.h"

/* --- rules --- */

static void check_tags(const struct field_reader *reader, struct place at,
                       const struct strings *tags)
{
    for (size_t i = 0; i < tags->n; i++)
        if (!notes_is_tag(tags->items[i]))
            field_error(reader, at,
                        "\"%.64s\" is no tag: 1 to %d letters, digits and "
                        "_ . -, a letter or digit first",
                        tags->items[i], NOTES_MOST_TAG);
}

static void check_many(const struct field_reader *reader, struct place at,
                       const char *tags)
{
    const size_t n = notes_tags_split(reader->arena, tags).n;
    if (n > NOTES_MOST_TAGS)
        field_error(reader, at, "would be %zu tags, at most %d are allowed", n,
                    NOTES_MOST_TAGS);
}

static void check_note(const struct field_reader *reader, struct place at,
                       const char *note)
{
    if (strlen(note) > NOTES_MOST_NOTE)
        field_error(reader, at, "is over %d bytes", NOTES_MOST_NOTE);
}

void notes_check_row(const struct field_reader *reader, struct place at,
                     struct metadata_row *row)
{
    const char *value = row->value != NULL ? row->value : "";
    if (strcmp(row->key, NOTES_TAGS) == 0) {
        const struct strings tags = notes_tags_split(reader->arena, value);
        check_tags(reader, at, &tags);
        row->value = notes_tags_join(reader->arena, &tags, NULL, NULL);
        check_many(reader, at, row->value);
    } else if (strcmp(row->key, NOTES_NOTE) == 0) {
        check_note(reader, at, value);
    } else {
        field_error(reader, at,
                    "the namespace " NOTES_NS " has only the keys " NOTES_NOTE
                    " and " NOTES_TAGS);
    }
}

/* --- storing --- */

static const char *reason_of(struct arena *arena,
                             const struct metadata_row *row)
{
    const char *what = strcmp(row->key, NOTES_TAGS) == 0 ? "tags" : "note";
    if (row->value[0] == '\0')
        return reason_make(arena, "no %s any more", what);
    return strcmp(what, "tags") == 0
               ? reason_make(arena, "tags: %s", row->value)
               : "note was written";
}

enum ht_status notes_store(struct method_call *call,
                           const struct metadata_row *row, struct ht_error *err)
{
    const int64_t study = call->study.id;
    const char *before;
    enum ht_status status = db_notes_get(
        call->db, call->arena,
        &(struct notes_name){study, row->trial, row->key}, &before, err);
    if (status != HT_OK || strcmp(before, row->value) == 0)
        return status;
    struct event_row event = {.study = study,
                              .trial = row->trial,
                              .kind = row->trial > 0 ? "trial.noted"
                                                     : "study.noted",
                              .reason = reason_of(call->arena, row)};
    status = db_metadata_set(call->db, study, row, err);
    return status == HT_OK ? move_event(call->core, &event, err) : status;
}

/* --- PATCH --- */

struct change {
    const char *note, *expect;
    struct place note_at, tags, add, remove;
};

#define CHANGE(member) offsetof(struct change, member)

static const struct field change_fields[] = {
    {"note", field_text, .offset = CHANGE(note), .place = CHANGE(note_at)},
    {"expect", field_text, .offset = CHANGE(expect)},
    {"tags", field_place, .offset = CHANGE(tags)},
    {"addTags", field_place, .offset = CHANGE(add)},
    {"removeTags", field_place, .offset = CHANGE(remove)},
    {0}};

static void read_tags(const struct field_reader *reader, struct place at,
                      struct strings *tags)
{
    if (at.node != NULL &&
        field_read_texts(reader, at, NOTES_MOST_TAGS, false, tags))
        check_tags(reader, at, tags);
}

/* `trial` 0: of the study. */
static enum ht_status change_tags(struct method_call *call,
                                  const struct change *change, int64_t trial,
                                  struct ht_error *err)
{
    const struct field_reader reader = trial_body_reader(call->req);
    struct strings tags = {0}, more = {0}, less = {0};
    struct metadata_row row = {
        .trial = trial, .ns = NOTES_NS, .key = NOTES_TAGS, .value = ""};
    enum ht_status status =
        db_notes_get(call->db, call->arena,
                     &(struct notes_name){call->study.id, trial, NOTES_TAGS},
                     &row.value, err);
    if (status != HT_OK)
        return status;
    tags = notes_tags_split(call->arena, row.value);
    read_tags(&reader, change->tags, &tags);
    read_tags(&reader, change->add, &more);
    read_tags(&reader, change->remove, &less);
    row.value = notes_tags_join(call->arena, &tags, &more, &less);
    check_many(&reader, change->add.node != NULL ? change->add : change->tags,
               row.value);
    status = faults_check(call->req, err);
    return status == HT_OK ? notes_store(call, &row, err) : status;
}

/* Of two people who edit one text, the second does not overwrite the first. */
static enum ht_status change_note(struct method_call *call,
                                  const struct change *change, int64_t trial,
                                  struct ht_error *err)
{
    const struct metadata_row row = {.trial = trial,
                                     .ns = NOTES_NS,
                                     .key = NOTES_NOTE,
                                     .value = change->note};
    const char *before;
    const enum ht_status status = db_notes_get(
        call->db, call->arena,
        &(struct notes_name){call->study.id, trial, NOTES_NOTE}, &before, err);
    if (status != HT_OK)
        return status;
    if (change->expect != NULL && strcmp(before, change->expect) != 0)
        return ht_fail(err, HT_CONFLICT, "the note has changed meanwhile");
    return change->note != NULL ? notes_store(call, &row, err) : HT_OK;
}

static enum ht_status change_notes(struct method_call *call,
                                   struct ht_error *err)
{
    struct change change = {0};
    const int64_t trial = call->trial.id;
    enum ht_status status =
        trial_body_read(call->req, change_fields, &change, err);
    if (status != HT_OK)
        return status;
    const struct field_reader reader = trial_body_reader(call->req);
    if (change.note != NULL)
        check_note(&reader, change.note_at, change.note);
    status = change_tags(call, &change, trial, err);
    return status == HT_OK ? change_note(call, &change, trial, err) : status;
}

static enum ht_status reply_notes(struct method_call *call,
                                  struct ht_error *err)
{
    cJSON *notes;
    const enum ht_status status = view_notes(
        call->db, call->arena, call->study.id, call->trial.id, &notes, err);
    if (status == HT_OK)
        json_print(notes, &call->req->reply);
    return status;
}

METHOD(notes_change_study, METHOD_STUDY, change_notes, reply_notes)
METHOD(notes_change_trial, METHOD_TRIAL, change_notes, reply_notes)
