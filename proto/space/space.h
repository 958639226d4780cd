/* space.h - the search space of a study and the points in it.
 *
 * A point is an array of struct value, one per parameter, in the order of the
 * space. Its canonical text (JSON object, parameters in order, numbers in
 * their shortest exact form) is what trials are compared by. */
#ifndef HT_PROTO_SPACE_SPACE_H
#define HT_PROTO_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

/* The values that a parameter may have. */
enum param_type {
    PARAM_DOUBLE,
    PARAM_INTEGER,
    PARAM_DISCRETE,
    PARAM_CATEGORICAL
};
/* Where a search looks more closely: evenly, near the low end, near the
 * high. */
enum param_scale { SCALE_LINEAR, SCALE_LOG, SCALE_REVERSE_LOG };

/* A parameter's value in a point. Which member counts follows from its type. */
struct value {
    double real;   /* PARAM_DOUBLE: the value */
    int64_t whole; /* PARAM_INTEGER: the value; DISCRETE, CATEGORICAL: index */
    bool absent;   /* a condition does not hold: there is no value */
};

/* When this parameter exists: the parent exists and has one of these values.
 * Parents are finite and never among their own descendants. */
struct condition {
    size_t parent; /* index in the space; it may be declared later */
    size_t n;
    const struct value *values;
    struct condition *next; /* all must hold */
};

/* What only trials made before a change of the study may have: such values are
 * evidence, but none is ever suggested. */
struct former {
    bool has_range;           /* DOUBLE, INTEGER: the next ones count */
    double min, max;          /* DOUBLE: every range so far lies in it, */
    int64_t int_min, int_max; /* INTEGER: too; steps are not asked */
};

struct param {
    const char *name;
    enum param_type type;
    enum param_scale scale;
    bool scale_said; /* so that Google's clients get a linear one back */
    double min, max; /* DOUBLE, inclusive */
    double step;     /* DOUBLE: > 0 gives min + k*step; else 0 */
    int64_t int_min, int_max;  /* INTEGER, inclusive */
    int64_t int_step;          /* INTEGER, >= 1 */
    size_t n_values;           /* DISCRETE, CATEGORICAL */
    size_t n_former;           /* more values, behind those: see `former` */
    const double *numbers;     /* DISCRETE, increasing; so are former ones */
    const char *const *labels; /* CATEGORICAL */
    struct former former;
    bool has_default;
    struct value fallback;  /* the default, when has_default */
    struct condition *when; /* NULL: always */
};

struct space {
    size_t n;
    struct param *params; /* in declared order */
    bool open; /* trials define it as they go: a point may lack any of them */
};

/* Index by name, or -1; of children that share a name the first. */
int space_find(const struct space *space, const char *name);
/* Of the parameters of that name the one whose conditions hold in this point,
 * or -1. */
int space_find_active(const struct space *space, const struct value point[],
                      const char *name);
/* Whether no point can have both: they need different values of one parent.
 * Only such parameters may share a name. */
bool space_excludes(const struct space *space, size_t a, size_t b);

/* Whether some parameters share a name. */
bool space_shares_names(const struct space *space);

/* All names and a NULL, for words_nearest(). */
const char *const *space_names(struct arena *arena, const struct space *space);

/* Whether the conditions of parameter i hold in this point. */
bool space_active(const struct space *space, const struct value point[],
                  size_t i);
/* Marks absent every parameter whose conditions do not hold, and only those. A
 * value must therefore be in each place, also where it may be absent. */
void space_settle(const struct space *space, struct value point[]);
/* No parameter has a condition: every point has every value. */
bool space_is_flat(const struct space *space);

/* Levels of one parameter: 0 for a continuous one. */
uint64_t space_param_levels(const struct param *param);
/* The j-th level, 0 <= j < space_param_levels(). */
struct value space_param_level(const struct param *param, uint64_t j);
/* Combinations of all levels, those of absent parameters counted too; 0 when
 * the space is continuous or has more than 2^63. */
uint64_t space_size(const struct space *space);

/* The value at u in [0,1) of the scaled range (search.md section 2: log and
 * reverse-log aware, levels as equal cells, clamped to the bounds). */
struct value space_param_from_unit(const struct param *param, double u);

/* Both of that parameter; two absent values are equal. */
bool space_value_equal(const struct param *param, struct value a,
                       struct value b);
/* Appends the value as an argument shows it: 0.001, 64, adam. Not absent. */
void space_value_text(const struct param *param, struct value value,
                      struct text *out);

/* The index of the value of a discrete parameter that is nearest to x. */
size_t space_nearest(const struct param *param, double x);

/* Appends it to a JSON array, or adds it as a member; numbers as numbers. Not
 * absent. */
void space_value_push_json(const struct param *param, struct value value,
                           cJSON *array);
void space_value_add_json(const struct param *param, struct value value,
                          cJSON *object, const char *key);
/* Adds the values that are listed, or that a step leaves, as an array. */
void space_levels_add_json(const struct param *param, cJSON *object,
                           const char *key);
/* Adds the values that the condition asks of its parent as an array. */
void space_condition_add_json(const struct space *space,
                              const struct condition *condition, cJSON *object,
                              const char *key);

/* Reads one value.
 * HT_INVALID  of a wrong kind, outside the range, or between two steps */
enum ht_status space_param_read(const struct param *param,
                                const struct node *node, struct value *value,
                                struct ht_error *err);

/* Appends the canonical text of a settled point; absent values are left out.
 */
void space_point_text(const struct space *space, const struct value point[],
                      struct text *out);
/* Reads canonical text (or any JSON object with every active parameter) back;
 * `point` has room for space->n and is settled. For what people and clients
 * send: a former value is outside the range.
 * HT_INVALID  a parameter is missing, unknown, outside its range, or has a
 *             value although its conditions do not hold */
enum ht_status space_point_read(const struct space *space,
                                const struct node *map, struct value point[],
                                struct ht_error *err);
/* The same for trials that exist, so former values are allowed. */
enum ht_status space_point_restore(const struct space *space,
                                   const struct node *map, struct value point[],
                                   struct ht_error *err);
/* space_point_restore() of a text, as the database holds it. */
enum ht_status space_point_parse(const struct space *space, const char *json,
                                 struct value point[], struct ht_error *err);

/* Whether trials may have values that are former ones. */
bool space_param_has_former(const struct param *param);
/* Whether a value that trials may have is one of before a change alone. */
bool space_param_is_former(const struct param *param, struct value value);
/* Whether every value of a settled point may be suggested today: in range, on
 * a step, no former value. Constraints are not looked at. */
bool space_has(const struct space *space, const struct value point[]);

/* ---- a space changes while its study runs ---- */

/* Gives `to`, a study's space after a change, what trials of `from` may have
 * had: `former` and n_former of its parameters, in the arena, in place of what
 * they had. A constant, which a spec has as a value by itself or a list of one,
 * gets the type that the parameter had unless conditions ask for it. `to` is
 * unchanged on failure.
 * HT_CONFLICT  a parameter is new, gone or moved, or changes its type, scale
 *              or condition; one of an open space, or one that shares its
 *              name, would lose a value; or one had more than HT_MAX_FORMER.
 *              The text begins "parameters.NAME" */
enum ht_status space_change(struct arena *arena, const struct space *from,
                            struct space *to, struct ht_error *err);

/* ---- the part of a space whose points have some values given ----
 *
 * What exists only beside certain values of a parent needs one of them there:
 * a value given to a child narrows its parent, too. Functions take a NULL part
 * for the whole space. */

struct subspace {
    const struct space *space;      /* borrowed */
    struct narrowing {              /* of each parameter */
        size_t n;                   /* 0: it may have any value, or none */
        const struct value *values; /* otherwise it has one of these */
    } * at;
};

/* Makes the part where every parameter has its value in `given`, settled or
 * not; there `absent` means that none is given. It is in the arena.
 * HT_INVALID  no point has all of them; *at is the parameter, one of those
 *             given, that cannot exist beside the others */
enum ht_status subspace_make(struct arena *arena, const struct space *space,
                             const struct value given[], struct subspace *part,
                             size_t *at, struct ht_error *err);

/* Whether a settled point lies in the part. */
bool subspace_has(const struct subspace *part, const struct value point[]);

/* Writes what every point of the part has: the values that are given, those
 * that they leave no choice of, and constants; the others are absent. True when
 * that is a whole point, so the only one there. */
bool subspace_common(const struct subspace *part, struct value point[]);

/* Moves a point, which has a value in each place, into the part, changing no
 * more than it must, and settles it. Of several values that a parameter may
 * have there, its own decides which it gets. */
void subspace_settle(const struct space *space, const struct subspace *part,
                     struct value point[]);

/* Whether parameter i may have several values there, all of them or some. */
bool subspace_leaves(const struct subspace *part, size_t i);

/* As space_param_levels(), space_param_level() and space_size(), of the part.
 */
uint64_t subspace_levels(const struct space *space, const struct subspace *part,
                         size_t i);
struct value subspace_level(const struct space *space,
                            const struct subspace *part, size_t i, uint64_t j);
uint64_t subspace_size(const struct space *space, const struct subspace *part);

/* Writes the settled point of the part with that index, below
 * subspace_size(). Points are counted like digits of a number, the last
 * parameter fastest, so index 0 has every parameter at its first level. Where
 * parameters are conditional, several indexes have the same point. */
void subspace_point(const struct space *space, const struct subspace *part,
                    uint64_t index, struct value point[]);

/* ---- an open space grows by what a trial says of it ---- */

/* Adds the parameters of `more` that the space lacks, and makes the ranges of
 * the others hold both. *changed tells whether anything was new. The space's
 * parameters are written anew in the arena; unchanged on failure.
 * HT_INVALID  one would change its type or scale, or there would be too many
 */
enum ht_status space_widen(struct arena *arena, struct space *space,
                           const struct space *more, bool *changed,
                           struct ht_error *err);

#endif
