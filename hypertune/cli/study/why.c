#include "hypertune/cli/study/why.h"

#include <string.h>

#include "hypertune/cli/study/study.h"

static const char *kind_words(const char *kind)
{
    static const char *const words[][2] = {
        {"DRAWN", "drawn, no model is behind it"},
        {"DESIGN", "one of the first points: the middle, then spread evenly"},
        {"EXPLOITS", "the model expects a good value there"},
        {"EXPLORES", "little is known there"},
        {"REPEATS", "measured again, since results are noisy"},
        {"SEED", "a good point of an earlier study"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], kind) == 0)
            return words[i][1];
    return kind;
}

/* "expected accuracy 0.93 (0.91 to 0.94 in two of three cases)" */
static void describe_predicted(const struct node *predicted, struct text *out)
{
    for (const struct node *goal = predicted ? predicted->first : NULL;
         goal != NULL; goal = goal->next) {
        text_puts(out, "expected ");
        text_escape(out, node_get_string(goal, "metric", ""));
        text_printf(out, " %.6g (%.6g to %.6g in two of three cases)\n",
                    node_get_double(goal, "median", 0),
                    node_get_double(goal, "low", 0),
                    node_get_double(goal, "high", 0));
    }
}

/* "given opt=adam, bits=8 (night shift)" */
static void describe_context(const struct node *context, struct text *out)
{
    const struct node *given = node_find(context, "parameters");
    const char *description = node_get_string(context, "description", "");
    if (given == NULL && description[0] == '\0')
        return;
    text_puts(out, "given ");
    if (given == NULL)
        text_puts(out, "nothing");
    for (const struct node *item = given == NULL ? NULL : given->first;
         item != NULL; item = item->next) {
        text_escape(out, item->key);
        text_puts(out, "=");
        text_escape(out, cli_scalar(item));
        text_puts(out, item->next == NULL ? "" : ", ");
    }
    if (description[0] != '\0') {
        text_puts(out, " (");
        text_escape(out, description);
        text_puts(out, ")");
    }
    text_puts(out, "\n");
}

/* "; nearest is trial 12 of digits, 0.4 lengths of the model away" */
static void describe_nearest(const struct node *nearest, struct text *out)
{
    const char *study = node_get_string(nearest, "study", "");
    text_puts(out, "; nearest is trial ");
    text_escape(out, cli_scalar(node_find(nearest, "trial")));
    text_puts(out, study[0] == '\0' ? "" : " of ");
    text_escape(out, study);
    text_printf(out, ", %.2g lengths of the model away",
                node_get_double(nearest, "distance", 0));
}

/* "43 earlier trials of digits count" */
static void describe_earlier(const struct node *list, struct text *out)
{
    for (const struct node *one = list == NULL ? NULL : list->first;
         one != NULL; one = one->next) {
        const int64_t n = node_get_int(one, "trials", 0);
        text_printf(out, "%lld earlier trial%s of ", (long long)n,
                    n == 1 ? "" : "s");
        text_escape(out, node_get_string(one, "study", ""));
        text_puts(out, n == 1 ? " counts\n" : " count\n");
    }
}

void cli_why_describe(const struct node *trial, struct text *out)
{
    const struct node *why = node_find(node_find(trial, "hypertune"), "why");
    const struct node *nearest = node_find(why, "nearest");
    if (why == NULL)
        return;
    text_puts(out, "why ");
    text_escape(out, kind_words(node_get_string(why, "kind", "")));
    if (nearest != NULL)
        describe_nearest(nearest, out);
    text_puts(out, "\n");
    describe_earlier(node_find(why, "earlier"), out);
    describe_context(node_find(why, "context"), out);
    describe_predicted(node_find(why, "predicted"), out);
    if (node_find(why, "acquisition") != NULL)
        text_printf(out, "promise %.4g (what the search maximised)\n",
                    node_get_double(why, "acquisition", 0));
}
