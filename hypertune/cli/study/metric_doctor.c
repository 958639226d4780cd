#include "hypertune/cli/study/metric_doctor.h"

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/study/study.h"

static void describe_seen(const struct node *seen, struct text *out)
{
    const int64_t count = node_get_int(seen, "count", 0);
    const char *file = node_get_string(seen, "file", NULL);
    text_puts(out, "  seen      ");
    text_escape(out, node_get_string(seen, "name", ""));
    if (count == 1) {
        text_puts(out, " = ");
        text_escape(out, node_get_string(seen, "last", ""));
    } else if (count > 1) {
        text_puts(out, " = ");
        text_escape(out, node_get_string(seen, "first", ""));
        text_puts(out, " .. ");
        text_escape(out, node_get_string(seen, "last", ""));
        text_printf(out, ", %lld times", (long long)count);
    }
    if (file != NULL) {
        text_puts(out, ", ");
        text_escape(out, node_get_string(seen, "replica", ""));
        text_puts(out, " ");
        text_escape(out, file);
        text_printf(out, " line %lld",
                    (long long)node_get_int(seen, "line", 0));
    }
    text_puts(out, "\n");
}

void cli_diagnosis_describe(const struct node *doctor, struct text *out)
{
    const struct node *seen = node_find(doctor, "seen");
    const struct node *hints = node_find(doctor, "hints");
    if (doctor != NULL && (seen == NULL || seen->first == NULL))
        text_puts(out, "  seen      no metric\n");
    for (seen = seen ? seen->first : NULL; seen != NULL; seen = seen->next)
        describe_seen(seen, out);
    for (hints = hints ? hints->first : NULL; hints != NULL;
         hints = hints->next) {
        text_puts(out, "  hint      ");
        text_escape(out, cli_scalar(hints));
        text_puts(out, "\n");
    }
}
