#include "proto/space/constraint_tree.h"

#include <math.h>
#include <string.h>

/* ---- operations ---- */

static double add(double a, double b)
{
    return a + b;
}

static double subtract(double a, double b)
{
    return a - b;
}

static double multiply(double a, double b)
{
    return a * b;
}

static double divide(double a, double b)
{
    return a / b;
}

#define OF_ONE(name, function)                                                 \
    static double name(double a, double b)                                     \
    {                                                                          \
        (void)b;                                                               \
        return function(a);                                                    \
    }
OF_ONE(negate, -)
OF_ONE(absolute, fabs)
OF_ONE(natural_log, log)
OF_ONE(binary_log, log2)
OF_ONE(decimal_log, log10)
OF_ONE(exponential, exp)
OF_ONE(square_root, sqrt)
OF_ONE(round_down, floor)
OF_ONE(round_up, ceil)

static const struct operation operations[] = {
    {"+", add, 2, true},
    {"-", subtract, 2, true},
    {"*", multiply, 2, true},
    {"/", divide, 2, false},
    {"neg", negate, 1, true},
    {"abs", absolute, 1, false},
    {"min", fmin, 2, true},
    {"max", fmax, 2, true},
    {"log", natural_log, 1, true},
    {"log2", binary_log, 1, true},
    {"exp", exponential, 1, true},
    {"log10", decimal_log, 1, true},
    {"sqrt", square_root, 1, true},
    {"pow", pow, 2, false},
    {"floor", round_down, 1, true},
    {"ceil", round_up, 1, true},
};

const struct operation *constraint_tree_operation(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strlen(operations[i].name) == len &&
            memcmp(operations[i].name, name, len) == 0)
            return &operations[i];
    return NULL;
}

bool constraint_tree_is_truth(const struct constraint *expression)
{
    return expression->kind >= EXPRESSION_IS;
}

/* ---- intervals ---- */

static const struct interval everything = {-INFINITY, INFINITY};

static struct interval param_interval(const struct param *param)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        return (struct interval){param->min, param->max};
    case PARAM_INTEGER:
        return (struct interval){(double)param->int_min,
                                 (double)param->int_max};
    case PARAM_DISCRETE:
        return (struct interval){param->numbers[0],
                                 param->numbers[param->n_values - 1]};
    case PARAM_CATEGORICAL:
        break;
    }
    return everything;
}

static struct interval call_interval(const struct operation *operation,
                                     struct interval a, struct interval b)
{
    const double ends[] = {
        operation->apply(a.low, b.low), operation->apply(a.low, b.high),
        operation->apply(a.high, b.low), operation->apply(a.high, b.high)};
    struct interval result = {INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (isnan(ends[i]))
            return everything;
        result.low = fmin(result.low, ends[i]);
        result.high = fmax(result.high, ends[i]);
    }
    return result;
}

struct interval constraint_tree_interval(const struct space *space,
                                         const struct constraint *number)
{
    if (number->kind == EXPRESSION_NUMBER)
        return (struct interval){number->number, number->number};
    if (number->kind == EXPRESSION_PARAMETER)
        return param_interval(&space->params[number->param]);
    if (!number->operation->ends_suffice)
        return everything;
    const struct interval a = constraint_tree_interval(space, number->left);
    const struct interval b =
        number->right == NULL ? a
                              : constraint_tree_interval(space, number->right);
    return call_interval(number->operation, a, b);
}

/* ---- possibilities ---- */

static const double rounding = 1e-9; /* of intervals' ends */

struct chances {
    bool of_true, of_false;
};

static bool is_conditional(const struct space *space,
                           const struct constraint *number)
{
    if (number == NULL)
        return false;
    if (number->kind == EXPRESSION_PARAMETER)
        return space->params[number->param].when != NULL;
    return is_conditional(space, number->left) ||
           is_conditional(space, number->right);
}

static struct chances compare_chances(const struct space *space,
                                      const struct constraint *truth)
{
    if (is_conditional(space, truth->left) ||
        is_conditional(space, truth->right))
        return (struct chances){true, true};
    const struct interval a = constraint_tree_interval(space, truth->left);
    const struct interval b = constraint_tree_interval(space, truth->right);
    /* What rounding moves is not certain. */
    const double slack = rounding * fmax(fabs(a.low), fabs(b.high));
    const bool one = a.low == a.high && b.low == b.high && a.low == b.low;
    if (truth->kind == EXPRESSION_BELOW)
        return (struct chances){a.low < b.high, a.high >= b.low};
    if (truth->kind == EXPRESSION_UP_TO)
        return (struct chances){!(a.low > b.high + slack), a.high > b.low};
    return (struct chances){a.low <= b.high && b.low <= a.high, !one};
}

static struct chances chances_of(const struct space *space,
                                 const struct constraint *truth)
{
    if (truth->kind == EXPRESSION_IS) {
        const struct param *param = &space->params[truth->param];
        return (struct chances){true,
                                param->n_values > 1 || param->when != NULL};
    }
    if (truth->kind < EXPRESSION_NOT)
        return compare_chances(space, truth);
    const struct chances a = chances_of(space, truth->left);
    if (truth->kind == EXPRESSION_NOT)
        return (struct chances){a.of_false, a.of_true};
    const struct chances b = chances_of(space, truth->right);
    if (truth->kind == EXPRESSION_AND)
        return (struct chances){a.of_true && b.of_true,
                                a.of_false || b.of_false};
    return (struct chances){a.of_true || b.of_true, a.of_false && b.of_false};
}

bool constraint_tree_is_possible(const struct space *space,
                                 const struct constraint *truth)
{
    return chances_of(space, truth).of_true;
}
