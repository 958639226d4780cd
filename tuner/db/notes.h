/* notes.h - what people write about a study and its trials: one text in
 * Markdown, and tags, which are short words.
 *
 * They are metadata of the namespace NOTES_NS, so backups, exports and deletion
 * have them. The tags of a study or trial are one text: the words in the order
 * of their bytes, each once, a blank between two of them. "" is none. */
#ifndef HT_TUNER_DB_NOTES_H
#define HT_TUNER_DB_NOTES_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "tuner/db/db.h"

#define NOTES_NS "hypertune"
#define NOTES_NOTE "note"
#define NOTES_TAGS "tags"

enum {
    NOTES_MOST_NOTE = 64 * 1024, /* bytes */
    NOTES_MOST_TAGS = 32,        /* of one study or trial */
    NOTES_MOST_TAG = 40          /* bytes */
};

/* A letter or digit, then letters, digits and _ . -, all ASCII: such a word
 * needs no quotes in a filter or a shell. */
bool notes_is_tag(const char *word);

/* The words of a tags' text, as they are there. */
struct strings notes_tags_split(struct arena *arena, const char *text);
/* The text of the words, with those of `more` and without those of `less`. */
const char *notes_tags_join(struct arena *arena, const struct strings *words,
                            const struct strings *more,
                            const struct strings *less);

struct notes_name {
    int64_t study, trial; /* 0: of the study */
    const char *key;      /* NOTES_NOTE or NOTES_TAGS */
};

/* The text of that name; "" when there is none. */
enum ht_status db_notes_get(struct db *db, struct arena *arena,
                            const struct notes_name *name, const char **value,
                            struct ht_error *err);

#endif
