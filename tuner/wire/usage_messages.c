#include "tuner/wire/usage_messages.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/usage.h"
#include "tuner/core/core.h"
#include "tuner/db/trial_usage.h"
#include "tuner/study/trial.h"
#include "tuner/wire/envelope.h"

enum { MOST_ITEMS = 1000 }; /* of one message */

static bool is_name(const char *text)
{
    return text != NULL && strlen(text) <= HT_MAX_NAME;
}

/* False: it is none. */
static bool read_item(struct request *req, const struct node *item,
                      struct trial_usage_row *row)
{
    struct usage usage;
    struct text out = {0};
    row->replica = node_get_string(item, "replica", NULL);
    row->device = node_get_string(item, "device", "");
    if (!is_name(row->replica) || *row->replica == '\0' ||
        !is_name(row->device) ||
        usage_read(node_find(item, "series"), &usage, NULL) != HT_OK)
        return false;
    usage_write(&usage, &out);
    row->series = text_take(&out, req->arena);
    return true;
}

static enum ht_status take_item(struct core *core, struct request *req,
                                const struct live_runner *runner,
                                const struct node *item, struct ht_error *err)
{
    struct trial_name name;
    struct trial_pair pair;
    if (wire_name(item, &name, NULL) != HT_OK)
        return HT_OK;
    const enum ht_status status =
        trial_find(core, req->arena, &name, runner->id, &pair, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND || status == HT_DENIED ? HT_OK : status;
    struct trial_usage_row row = {
        .study = name.study, .trial = name.trial, .attempt = name.attempt};
    return read_item(req, item, &row)
               ? db_trial_usage_set(core_db(core), &row, err)
               : HT_OK;
}

enum ht_status usage_messages_take(struct core *core, struct request *req,
                                   const struct live_runner *runner,
                                   struct ht_error *err)
{
    enum ht_status status = HT_OK;
    int n = 0;
    NODE_EACH (item, node_first(req->body, "usage")) {
        if (status == HT_OK && n++ < MOST_ITEMS)
            status = take_item(core, req, runner, item, err);
    }
    return status;
}
