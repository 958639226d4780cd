#include "tuner/api/backups.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/doc/json.h"
#include "tuner/ask/trial_body.h"
#include "tuner/base/backup_board.h"
#include "tuner/core/core.h"

struct wanted {
    const char *to;
};

static const struct field wanted_fields[] = {
    {"to", field_text, .offset = offsetof(struct wanted, to)}, {0}};

static enum ht_status check_folder(const char *to, struct ht_error *err)
{
    struct stat found;
    if (to[0] != '/' || strlen(to) >= BACKUP_PATH_BYTES / 2)
        return ht_fail(err, HT_INVALID,
                       "to: \"%.100s\" is no absolute path on the machine of "
                       "the server",
                       to);
    if (stat(to, &found) != 0 || !S_ISDIR(found.st_mode))
        return ht_fail(err, HT_INVALID,
                       "to: the machine of the server has no folder %.150s",
                       to);
    return HT_OK;
}

enum ht_status backup_create(struct core *core, struct request *req,
                             struct ht_error *err)
{
    struct wanted wanted = {0};
    int64_t number;
    enum ht_status status = trial_body_read(req, wanted_fields, &wanted, err);
    if (status == HT_OK && wanted.to != NULL)
        status = check_folder(wanted.to, err);
    if (status == HT_OK)
        status =
            backup_board_ask(core_options_of(core)->backups,
                             wanted.to != NULL ? wanted.to : "", &number, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "number", number);
    json_print(object, &req->reply);
    return HT_OK;
}
