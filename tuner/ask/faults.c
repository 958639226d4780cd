#include "tuner/ask/faults.h"

#include <string.h>

struct diag *faults_of(struct request *req)
{
    if (req->diag == NULL) {
        req->diag = arena_alloc(req->arena, 1, sizeof *req->diag);
        diag_init(req->diag, req->arena, "request", NULL, 0);
    }
    return req->diag;
}

void faults_add(struct request *req, const char *name, enum ht_status status,
                const struct ht_error *why)
{
    if (status == HT_OK)
        return;
    const size_t len = strlen(name);
    const char *text = why->text;
    if (strncmp(text, name, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        text += len + 2;
    diag_error(faults_of(req), 0, 0, name, "%s", text);
}

/* One sentence has room for one fault: the first. */
enum ht_status faults_fail(const struct diag *diag, struct ht_error *err)
{
    const struct diag_item *item = diag->first;
    while (item != NULL && item->kind != DIAG_ERROR)
        item = item->next;
    if (item == NULL)
        return ht_fail(err, HT_INVALID, "the request is wrong");
    return ht_fail(err, HT_INVALID, "%s%s%s", item->path,
                   *item->path == '\0' ? "" : ": ", item->text);
}

enum ht_status faults_check(struct request *req, struct ht_error *err)
{
    const struct diag *diag = faults_of(req);
    return diag->errors == 0 ? HT_OK : faults_fail(diag, err);
}
