/* slurm_script.c - the script that sbatch gets, with the options of the batch
 * job. */

#include <string.h>

#include "proto/base/text.h"
#include "proto/job/slurm.h"

/* sbatch reads a #SBATCH line much as a shell reads words: a value is quoted
 * whole, so that what it has is never an option of its own. */
static void put_value(struct text *out, const char *value)
{
    if (strpbrk(value, " \t\"'\\#") == NULL) {
        text_puts(out, value);
        return;
    }
    text_puts(out, "\"");
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            text_puts(out, "\\");
        text_append(out, value, 1);
    }
    text_puts(out, "\"");
}

static void put_options(struct text *out, const struct slurm_option *options,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        text_printf(out, "#SBATCH --%s", options[i].name);
        if (options[i].value != NULL) {
            text_puts(out, "=");
            put_value(out, options[i].value);
        }
        text_puts(out, "\n");
    }
}

const char *slurm_script(struct arena *arena, const struct slurm_batch *batch)
{
    struct text out = {0};
    size_t first = strcspn(batch->script, "\n");
    first += batch->script[first] == '\n';
    text_append(&out, batch->script, first);
    put_options(&out, batch->options, batch->n_options);
    for (size_t i = 0; i < batch->n_others; i++) {
        text_puts(&out, "#SBATCH hetjob\n");
        put_options(&out, batch->others[i].items, batch->others[i].n);
    }
    text_puts(&out, batch->script + first);
    return text_take(&out, arena);
}
