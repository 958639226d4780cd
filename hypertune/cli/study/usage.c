#include "hypertune/cli/study/usage.h"

#include <stdbool.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/study/study.h"
#include "proto/job/usage.h"

struct summary { /* below 0: not known */
    double used; /* mean */
    int64_t memory;
};

static struct summary sum_up(const struct usage *usage)
{
    struct summary summary = {-1, -1};
    double used = 0, known_ms = 0;
    int64_t before = 0;
    for (size_t i = 0; i < usage->n; i++) {
        const struct usage_point *point = &usage->points[i];
        const double ms = (double)(point->until_ms - before);
        before = point->until_ms;
        if (point->memory > summary.memory)
            summary.memory = point->memory;
        if (point->used < 0)
            continue;
        used += point->used * ms;
        known_ms += ms;
    }
    if (known_ms > 0)
        summary.used = used / known_ms;
    return summary;
}

static void describe(const struct node *item, const struct usage *usage,
                     struct text *out)
{
    const struct summary summary = sum_up(usage);
    const char *device = node_get_string(item, "device", "");
    const bool is_gpu = device[0] != '\0';
    text_print_safe(out, "  %s", is_gpu ? "GPU " : "used      ");
    if (is_gpu)
        text_print_safe(out, "%s ", device);
    if (summary.used >= 0 && is_gpu)
        text_printf(out, "%.0f %% busy", 100 * summary.used);
    else if (summary.used >= 0)
        text_printf(out, "%.2f cores", summary.used);
    if (summary.memory >= 0) {
        text_puts(out, summary.used >= 0 ? ", at most " : "at most ");
        cli_output_bytes(summary.memory, out);
    }
    text_print_safe(out, " by %s\n", node_get_string(item, "replica", ""));
}

void cli_describe_usage(struct cli *cli, const char *study, const char *trial,
                        struct text *out)
{
    const struct node *answer;
    struct usage usage;
    const char *path = cli_study_path(cli, study, "/trials/%s/usage", trial);
    if (cli_get(cli, path, &answer, NULL) != HT_OK)
        return;
    const struct node *first = node_first(answer, "usage");
    NODE_EACH (item, first) {
        if (node_get_int(item, "attempt", 0) ==
                node_get_int(first, "attempt", 0) &&
            usage_read(node_find(item, "series"), &usage, NULL) == HT_OK &&
            usage.n > 0)
            describe(item, &usage, out);
    }
}
