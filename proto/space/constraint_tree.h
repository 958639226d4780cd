/* constraint_tree.h - the syntax tree of a constraint, shared by its reader and
 * its evaluation. For constraint*.c only. */
#ifndef HT_PROTO_SPACE_CONSTRAINT_TREE_H
#define HT_PROTO_SPACE_CONSTRAINT_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/space/space.h"

enum expression_kind {
    EXPRESSION_NUMBER,    /* number */
    EXPRESSION_PARAMETER, /* param */
    EXPRESSION_CALL,      /* operation of left and, if it has two, right */
    EXPRESSION_IS,        /* truth: param has the value number `label` */
    EXPRESSION_BELOW,     /* truth: left < right */
    EXPRESSION_UP_TO,     /* truth: left <= right */
    EXPRESSION_EQUAL,     /* truth: left == right */
    EXPRESSION_NOT,       /* truth: of left */
    EXPRESSION_AND,       /* truths: left, right */
    EXPRESSION_OR
};

/* What a call does with numbers; constant. */
struct operation {
    const char *name;
    double (*apply)(double a, double b);
    int arguments; /* 1 or 2 */
    /* What it makes of all numbers of an interval lies between what it makes
     * of its ends. */
    bool ends_suffice;
};

/* A node of the tree. Only the members that its kind needs are set. */
struct constraint {
    enum expression_kind kind;
    double number;
    size_t param, label;
    const struct operation *operation;
    double width; /* comparisons: of what left - right can be, or 1 */
    struct constraint *left, *right;
};

/* Both ends included; may be infinite. */
struct interval {
    double low, high;
};

/* An operator's, "neg" for the sign, or a function's; NULL when unknown. The
 * name is not terminated. */
const struct operation *constraint_tree_operation(const char *name, size_t len);

/* Whether it is true or false of a point, rather than a number. */
bool constraint_tree_is_truth(const struct constraint *expression);

/* Where the value of a number lies, whatever the parameters are. */
struct interval constraint_tree_interval(const struct space *space,
                                         const struct constraint *number);

/* Whether some point might satisfy it: false only when certainly none does. */
bool constraint_tree_is_possible(const struct space *space,
                                 const struct constraint *truth);

#endif
