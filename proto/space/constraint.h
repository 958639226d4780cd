/* constraint.h - a relation between parameters that every trial satisfies.
 *
 * One expression that must be true of a point:
 *
 *     truth      = both { "or" both }
 *     both       = fact { "and" fact }
 *     fact       = "not" fact | comparison | "(" truth ")"
 *     comparison = sum RELATION sum { RELATION sum }   0.1 <= x + y < 1
 *                | CATEGORY ( "==" | "!=" ) VALUE      opt == sgd
 *     sum        = product { ( "+" | "-" ) product }
 *     product    = factor { ( "*" | "/" ) factor }
 *     factor     = "-" factor | NUMBER | PARAMETER | "(" sum ")"
 *                | FUNCTION "(" sum [ "," sum ] ")"
 *
 * RELATION is one of < <= > >= == != and FUNCTION one of abs min max log log2
 * log10 exp sqrt pow floor ceil. A name is read as the longest parameter's
 * that is there, so a - b with blanks is a difference even where a-b is a
 * parameter. A VALUE is written bare or in quotes. Text that is compared with
 * <, continuous parameters compared with == and relations that no point can
 * satisfy are refused.
 *
 * What a condition leaves out has no value. A comparison with it is neither
 * true nor false, and a constraint is violated only where it is false. */
#ifndef HT_PROTO_SPACE_CONSTRAINT_H
#define HT_PROTO_SPACE_CONSTRAINT_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/space/space.h"

struct constraint; /* opaque, immutable */

/* Reads one; it is in the arena.
 * HT_INVALID  as the sentence says; *at (may be NULL) is the byte where */
enum ht_status constraint_parse(struct arena *arena, const struct space *space,
                                const char *text,
                                struct constraint **constraint, size_t *at,
                                struct ht_error *err);

/* How far a settled point is from satisfying it: 0 when it does, otherwise
 * above 0, in shares of what the parameters' ranges can make of it. */
double constraint_violation(const struct space *space,
                            const struct constraint *constraint,
                            const struct value point[]);

/* All of a study; every one must hold. */
struct constraint_set {
    const struct space *space; /* borrowed */
    size_t n;
    struct constraint **items;
    const char *const *texts; /* as they were written, borrowed */
};

/* Reads n texts. HT_INVALID as above, with the text in the sentence. */
enum ht_status constraint_set_parse(struct arena *arena,
                                    const struct space *space, size_t n,
                                    const char *const texts[],
                                    struct constraint_set *set,
                                    struct ht_error *err);

/* The sum of the violations. A NULL set is satisfied by everything. */
double constraint_set_violation(const struct constraint_set *set,
                                const struct value point[]);
/* Whether a settled point violates none; cheaper than the sum. */
bool constraint_set_holds(const struct constraint_set *set,
                          const struct value point[]);

/* Appends the first constraint that the point violates, as it was written, and
 * the values of its parameters:
 *     max_depth*10 <= batch*2 does not hold for max_depth=12, batch=16
 * Nothing when all of them hold. */
void constraint_set_explain(const struct constraint_set *set,
                            const struct value point[], struct text *out);

#endif
