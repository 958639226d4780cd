#include "runner/engine.h"

#include <stddef.h>
#include <string.h>

static const struct engine *const engines[] = {&engine_process, &engine_docker};
enum { N_ENGINES = sizeof engines / sizeof *engines };

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < N_ENGINES; i++) {
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    }
    return NULL;
}

const char *engine_names(void)
{
    return "process, docker";
}
