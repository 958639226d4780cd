/* What a constraint says of a point. */

#include "proto/space/constraint.h"

#include <math.h>

#include "proto/base/limits.h"
#include "proto/space/constraint_tree.h"

/* Of the larger side: what sums of many terms lose by rounding, so that 0.1 +
 * 0.2 <= 0.3 holds. */
static const double rounding = 1e-14;

/* The violation of what misses by less: x < x misses by nothing at all. */
static const double least_violation = 1e-9;

/* How much is lacking to be true and to be false; both 0 where that is
 * unknown, so that neither counts as a violation. */
struct lack {
    double of_true, of_false;
};

/* ---- numbers ---- */

static double number_of(const struct param *param, struct value value)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        return value.real;
    case PARAM_INTEGER:
        return (double)value.whole;
    case PARAM_DISCRETE:
        return param->numbers[value.whole];
    case PARAM_CATEGORICAL:
        break;
    }
    return NAN; /* the reader lets no text in here */
}

/* False when a parameter in it is absent. */
static bool evaluate(const struct space *space,
                     const struct constraint *expression,
                     const struct value point[], double *number)
{
    double left = expression->number, right = 0;
    if (expression->kind == EXPRESSION_PARAMETER) {
        if (point[expression->param].absent)
            return false;
        left = number_of(&space->params[expression->param],
                         point[expression->param]);
    }
    if (expression->kind != EXPRESSION_CALL) {
        *number = left;
        return true;
    }
    if (!evaluate(space, expression->left, point, &left))
        return false;
    if (expression->right != NULL &&
        !evaluate(space, expression->right, point, &right))
        return false;
    *number = expression->operation->apply(left, right);
    return true;
}

/* ---- truths ---- */

static struct lack lack_of(bool is, double amount)
{
    amount = isfinite(amount) ? fmax(amount, least_violation) : 1;
    return is ? (struct lack){0, amount} : (struct lack){amount, 0};
}

static struct lack compare(const struct space *space,
                           const struct constraint *expression,
                           const struct value point[])
{
    double a, b;
    if (!evaluate(space, expression->left, point, &a) ||
        !evaluate(space, expression->right, point, &b))
        return (struct lack){0, 0};
    if (isnan(a) || isnan(b))
        return (struct lack){1, 1}; /* the root of -1 is neither */
    const double slack = rounding * fmax(fabs(a), fabs(b));
    const double amount = fabs(a - b) / expression->width;
    if (expression->kind == EXPRESSION_BELOW)
        return lack_of(a < b - slack, amount);
    if (expression->kind == EXPRESSION_UP_TO)
        return lack_of(a <= b + slack, amount);
    return lack_of(fabs(a - b) <= slack, amount);
}

static struct lack look(const struct space *space,
                        const struct constraint *expression,
                        const struct value point[])
{
    if (expression->kind == EXPRESSION_IS) {
        const struct value value = point[expression->param];
        if (value.absent)
            return (struct lack){0, 0};
        return lack_of((size_t)value.whole == expression->label, 1);
    }
    if (expression->kind < EXPRESSION_NOT)
        return compare(space, expression, point);
    const struct lack a = look(space, expression->left, point);
    if (expression->kind == EXPRESSION_NOT)
        return (struct lack){a.of_false, a.of_true};
    const struct lack b = look(space, expression->right, point);
    if (expression->kind == EXPRESSION_AND)
        return (struct lack){a.of_true + b.of_true,
                             fmin(a.of_false, b.of_false)};
    return (struct lack){fmin(a.of_true, b.of_true), a.of_false + b.of_false};
}

/* ---- its parameters ---- */

static void note_params(const struct constraint *expression, bool named[])
{
    if (expression == NULL)
        return;
    if (expression->kind == EXPRESSION_PARAMETER ||
        expression->kind == EXPRESSION_IS)
        named[expression->param] = true;
    note_params(expression->left, named);
    note_params(expression->right, named);
}

static void put_values(const struct space *space,
                       const struct constraint *constraint,
                       const struct value point[], struct text *out)
{
    bool named[HT_MAX_PARAMETERS] = {0};
    const char *between = " ";
    note_params(constraint, named);
    for (size_t i = 0; i < space->n; i++) {
        if (!named[i] || point[i].absent)
            continue;
        text_printf(out, "%s%s=", between, space->params[i].name);
        space_value_text(&space->params[i], point[i], out);
        between = ", ";
    }
}

/* ---- one and all ---- */

double constraint_violation(const struct space *space,
                            const struct constraint *constraint,
                            const struct value point[])
{
    return look(space, constraint, point).of_true;
}

double constraint_set_violation(const struct constraint_set *set,
                                const struct value point[])
{
    double sum = 0;
    for (size_t i = 0; set != NULL && i < set->n; i++)
        sum += constraint_violation(set->space, set->items[i], point);
    return sum;
}

bool constraint_set_holds(const struct constraint_set *set,
                          const struct value point[])
{
    for (size_t i = 0; set != NULL && i < set->n; i++)
        if (constraint_violation(set->space, set->items[i], point) > 0)
            return false;
    return true;
}

void constraint_set_explain(const struct constraint_set *set,
                            const struct value point[], struct text *out)
{
    for (size_t i = 0; set != NULL && i < set->n; i++) {
        if (constraint_violation(set->space, set->items[i], point) == 0)
            continue;
        text_printf(out, "%s does not hold for", set->texts[i]);
        put_values(set->space, set->items[i], point, out);
        return;
    }
}

enum ht_status constraint_set_parse(struct arena *arena,
                                    const struct space *space, size_t n,
                                    const char *const texts[],
                                    struct constraint_set *set,
                                    struct ht_error *err)
{
    struct constraint **items =
        arena_alloc(arena, n + 1, sizeof(struct constraint *));
    for (size_t i = 0; i < n; i++) {
        const enum ht_status status =
            constraint_parse(arena, space, texts[i], &items[i], NULL, err);
        if (status != HT_OK)
            return ht_wrap(err, status, "constraint \"%.60s\"", texts[i]);
    }
    *set = (struct constraint_set){space, n, items, texts};
    return HT_OK;
}
