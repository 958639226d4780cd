#include "hypertune/cli/study/parameters.h"

#include <string.h>

/* Where the name stands, at the end when it is new; NULL when all is full. */
static struct cli_parameter *find_or_add(struct cli_parameters *parameters,
                                         const char *name)
{
    for (size_t i = 0; i < parameters->n; i++)
        if (strcmp(parameters->items[i].name, name) == 0)
            return &parameters->items[i];
    if (parameters->n == HT_MAX_PARAMETERS)
        return NULL;
    struct cli_parameter *added = &parameters->items[parameters->n++];
    *added = (struct cli_parameter){.name = name};
    return added;
}

static void read_nested(const struct node *spec,
                        struct cli_parameters *parameters)
{
    struct cli_parameter *one =
        find_or_add(parameters, node_get_string(spec, "parameterId", ""));
    const struct node *children = node_find(spec, "conditionalParameterSpecs");
    if (one != NULL && node_find(spec, "categoricalValueSpec") != NULL)
        one->labels = true;
    for (const struct node *child = children ? children->first : NULL;
         child != NULL; child = child->next)
        read_nested(node_find(child, "parameterSpec"), parameters);
}

void cli_parameters_read(const struct node *job,
                         struct cli_parameters *parameters)
{
    const struct node *order =
        node_find(node_find(job, "hypertune"), "parameterOrder");
    const struct node *list =
        node_find(node_find(job, "studySpec"), "parameters");
    parameters->n = 0;
    for (const struct node *name = order ? order->first : NULL; name != NULL;
         name = name->next)
        if (node_string(name) != NULL)
            find_or_add(parameters, node_string(name));
    for (const struct node *spec = list ? list->first : NULL; spec != NULL;
         spec = spec->next)
        read_nested(spec, parameters);
}
