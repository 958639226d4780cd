#include "tuner/view/member.h"

#include "proto/base/clock.h"
#include "proto/doc/json.h"

void view_add_stamp(cJSON *object, const char *key, int64_t wall_ms)
{
    char stamp[CLOCK_STAMP_BYTES];
    if (wall_ms > 0)
        json_add_string(object, key, clock_stamp(stamp, wall_ms));
}

void view_add_ms(cJSON *object, const char *key, int64_t wall_ms)
{
    if (wall_ms > 0)
        json_add_int(object, key, wall_ms);
}

void view_add_stored(cJSON *object, const char *key, const char *json)
{
    if (json != NULL && json[0] != '\0')
        cJSON_AddItemToObject(object, key, cJSON_CreateRaw(json));
}
