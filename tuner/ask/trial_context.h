/* trial_context.h - what a client asks of a suggestion, Google's TrialContext:
 * values that its point must have, and words about it. A trial that a person
 * adds with only some values uses the same; it gets a point that was not tried
 * before.
 *
 * Its text contains all of it, in one form, so that contexts can be compared:
 *
 *     {"description": "night shift", "parameters": {"optimizer": "adam"},
 *      "untried": true, "trial": "7", "search": {"studySpec": ...}}
 *
 * The last two are of a question for an open trial: which one it is, and what
 * it asks for (tuner/search/asked_space.h). An empty member is left out. With
 * the text a context goes to the search, into the reason of its trial and from
 * there into replays. */
#ifndef HT_TUNER_ASK_TRIAL_CONTEXT_H
#define HT_TUNER_ASK_TRIAL_CONTEXT_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/field.h"
#include "proto/space/constraint.h"
#include "proto/space/space.h"

/* The values that a client's suggestions must have, in the arena. */
struct trial_context {
    const char *text;     /* NULL: there is no context */
    struct subspace part; /* of the space, with its values */
    bool untried;         /* no point is to be measured again */
};

struct trial_context_words {
    const char *description; /* or NULL */
    bool untried;
    int64_t trial;      /* or 0 */
    const char *search; /* or NULL */
};

/* Reads a TrialContext; false after a fault. Faults are also values that no
 * point can have together and ones that violate a constraint by themselves. */
bool trial_context_read(const struct field_reader *reader, struct place at,
                        const struct constraint_set *constraints,
                        struct trial_context *context);

/* The text of a context with these values, by parameter. */
const char *trial_context_text(struct arena *arena, const struct space *space,
                               const struct value given[],
                               const struct trial_context_words *words);

/* Reads a context back from its text. HT_INVALID: it is none. */
enum ht_status trial_context_parse(struct arena *arena,
                                   const struct space *space, const char *text,
                                   struct trial_context *context,
                                   struct ht_error *err);

/* Whether both texts mean the same; either may be NULL. */
bool trial_context_is(const char *a, const char *b);

#endif
