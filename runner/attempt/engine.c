#include "runner/attempt/engine.h"

#include <stddef.h>
#include <string.h>

enum { N_ENGINES = 2 };
static const struct engine *const engines[N_ENGINES] = {&engine_process,
                                                        &engine_docker};

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < N_ENGINES; i++) {
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    }
    return NULL;
}
