#include "tuner/base/exposition.h"

#include <math.h>

void exposition_family(struct text *out, const char *name, const char *type,
                       const char *help)
{
    text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_value(struct text *out, double value)
{
    if (isnan(value))
        text_puts(out, "NaN");
    else if (isinf(value))
        text_puts(out, value > 0 ? "+Inf" : "-Inf");
    else
        text_printf(out, "%.15g", value);
}

static void add_label(struct text *out, const struct sample_label *label)
{
    text_printf(out, "%s=\"", label->name);
    for (const char *at = label->value; *at != '\0'; at++) {
        if (*at == '\n')
            text_puts(out, "\\n");
        else if (*at == '"' || *at == '\\')
            text_printf(out, "\\%c", *at);
        else
            text_append(out, at, 1);
    }
    text_puts(out, "\"");
}

void exposition_sample(struct text *out, const char *name, size_t n,
                       const struct sample_label labels[], double value)
{
    text_puts(out, name);
    for (size_t i = 0; i < n; i++) {
        text_puts(out, i == 0 ? "{" : ",");
        add_label(out, &labels[i]);
    }
    text_puts(out, n > 0 ? "} " : " ");
    add_value(out, value);
    text_puts(out, "\n");
}

void exposition_single(struct text *out, const char *name, const char *type,
                       const char *help, double value)
{
    exposition_family(out, name, type, help);
    exposition_sample(out, name, 0, NULL, value);
}
