/* kube_condition.h - conditions of Kubernetes objects, in the expressions that
 * Katib takes: a part of GJSON's path syntax (tidwall/gjson, SYNTAX.md).
 *
 *     status.conditions.#(type=="Complete")#|#(status=="True")#
 *
 * Steps are separated by "." or "|":
 *     name           the member; \. is a dot in it. Of a list: its item 0, 1...
 *     #(path==text)  the first item whose member at the path has that value;
 *                    text is in double quotes or bare, and != is as ==
 *     #(path==text)# a list of all such items
 *     #              the list; the step behind "#." or "#(...)#." is taken of
 *                    each item, one behind "|" of the whole list
 *     [@this]        a list of this one value
 * A condition is true where it selects an object, or a list with items. Pure.
 */
#ifndef HT_PROTO_JOB_KUBE_CONDITION_H
#define HT_PROTO_JOB_KUBE_CONDITION_H

#include <stddef.h>

#include "proto/base/arena.h"

struct node;

/* What is wrong with the expression, a constant text, and the byte where; NULL:
 * nothing. */
const char *kube_condition_fault(const char *expression, size_t *byte);

/* What makes it true of the object: the selected object, or the first item of
 * the selected list; NULL: it is not true. The expression has no fault. */
const struct node *kube_condition_find(struct arena *arena,
                                       const struct node *object,
                                       const char *expression);

#endif
