/* member.h - members of resources that are there only when they say
 * something. */
#ifndef HT_TUNER_VIEW_MEMBER_H
#define HT_TUNER_VIEW_MEMBER_H

#include <stdint.h>

#include <cjson/cJSON.h>

/* A moment as RFC 3339 or as milliseconds; none for 0. */
void view_add_stamp(cJSON *object, const char *key, int64_t wall_ms);
void view_add_ms(cJSON *object, const char *key, int64_t wall_ms);

/* JSON that we wrote and stored, embedded as it is; none for NULL or "". */
void view_add_stored(cJSON *object, const char *key, const char *json);

#endif
