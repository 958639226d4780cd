#include "proto/job/trackers.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* The name of an experiment, or true for the study's own name; false is as
 * good as nothing. */
static void read_experiment(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into)
{
    const char *name = node_string(at.node);
    bool own = false;
    (void)field;
    if (at.node->kind == NODE_BOOL) {
        static const struct field flag = {.name = "mlflow"};
        field_flag(reader, at, &flag, &own);
        name = own ? "" : NULL;
    } else if (name == NULL) {
        field_wrong_kind(reader, at, "the name of an experiment, or true");
        return;
    } else if (name[0] == '\0' || strlen(name) > HT_MAX_NAME ||
               has_control(name)) {
        field_error(reader, at,
                    "the name of an experiment has 1 to %d bytes and no "
                    "control characters",
                    HT_MAX_NAME);
        return;
    }
    *(const char **)into = name;
}

const struct field job_tracker_rows[] = {
    {"mlflow", read_experiment,
     .offset = offsetof(struct job_trackers, mlflow)},
    {"tensorboard", field_flag,
     .offset = offsetof(struct job_trackers, tensorboard)},
    {0}};

void job_trackers_write(cJSON *object, const struct job_trackers *trackers)
{
    cJSON *map = cJSON_CreateObject();
    if (trackers->mlflow != NULL && trackers->mlflow[0] == '\0')
        json_add_flag(map, "mlflow", true);
    else
        json_add_text(map, "mlflow", trackers->mlflow);
    json_add_flag(map, "tensorboard", trackers->tensorboard);
    json_add_filled(object, "trackers", map);
}
