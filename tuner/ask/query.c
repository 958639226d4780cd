#include "tuner/ask/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tuner/ask/faults.h"
#include "tuner/ask/field_name.h"
#include "tuner/ask/trial_body.h"

/* Google's system parameters, which are of no method and of all. */
static bool is_system(const char *name)
{
    static const char *const names[] = {
        "access_token", "alt",         "callback",        "fields",
        "key",          "oauth_token", "prettyPrint",     "quotaUser",
        "trace",        "uploadType",  "upload_protocol", "userProject"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return name[0] == '$';
}

/* The one of the names taken that `said` says, or NULL. */
static const char *find_taken(struct arena *arena, const char *takes,
                              const char *said)
{
    while (takes != NULL && *takes != '\0') {
        const size_t len = strcspn(takes, " ");
        if (field_name_is(said, strlen(said), takes, len))
            return arena_strndup(arena, takes, len);
        takes += len + strspn(takes + len, " ");
    }
    return NULL;
}

static void take_pair(struct request *req, const char *takes,
                      const struct pair *said, struct pair *items)
{
    const char *name = find_taken(req->arena, takes, said->name);
    if (name == NULL && is_system(said->name))
        return;
    if (name == NULL && takes == NULL)
        diag_error(faults_of(req), 0, 0, said->name,
                   "is unknown: this method takes nothing in the query");
    else if (name == NULL)
        diag_error(faults_of(req), 0, 0, said->name,
                   "is unknown: this method takes %s", takes);
    else if (request_query(req, name) != NULL)
        diag_error(faults_of(req), 0, 0, name, "is said twice");
    else
        items[req->query.n++] = (struct pair){name, said->value};
}

enum ht_status query_take(struct request *req, const char *takes,
                          const struct pairs *said, struct ht_error *err)
{
    if (takes != NULL && strcmp(takes, QUERY_ANYTHING) == 0)
        return HT_OK;
    struct pair *items = arena_alloc(req->arena, said->n, sizeof *items);
    req->query = (struct pairs){.items = items};
    for (size_t i = 0; i < said->n; i++)
        take_pair(req, takes, &said->items[i], items);
    return faults_check(req, err);
}
