#include "tests/lib/oracles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_NAME "tests/data/search_oracles.json"

static cJSON *read_all(void)
{
    static char text[65536];
    FILE *file = fopen(FILE_NAME, "r");
    size_t len = 0;
    if (file != NULL) {
        len = fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    return cJSON_ParseWithLength(text, len);
}

const cJSON *oracle(const char *name, cJSON **all)
{
    *all = read_all();
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(*all, name);
    if (found == NULL) {
        printf("Bail out! %s has no %s\n", FILE_NAME, name);
        exit(1);
    }
    return found;
}

double oracle_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

size_t oracle_numbers(const cJSON *object, const char *key, size_t cap,
                      double out[])
{
    size_t n = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(object, key))
    {
        if (n < cap)
            out[n++] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    }
    return n;
}

bool oracle_near(double got, double want, double tolerance)
{
    const bool near = fabs(got - want) <= tolerance * fmax(1, fabs(want));
    if (!near)
        printf("# got %.17g, want %.17g\n", got, want);
    return near;
}
