/* What comes with a request beside head and body, a line each: what a proxy
 * says, the cookie, the mask, then the query's names and values by turns, a
 * page token among them. A refusal is explained, a token of ours is taken back,
 * and no cookie that was not sealed here is opened.
 *
 * fuzz-with: tuner */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "proto/doc/json.h"
#include "tuner/ask/query.h"
#include "tuner/ask/read_mask.h"
#include "tuner/ask/resource_members.h"
#include "tuner/http/arrival.h"
#include "tuner/http/sessions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 40, OTHERS = 5 };

static void check_refusal(enum ht_status status, const struct ht_error *err)
{
    if (status != HT_OK && err->text[0] == '\0')
        abort();
}

static void arrive(const char *lines[LINES])
{
    static struct proxies *proxies;
    const struct proxies_wanted wanted = {.list = "127.0.0.1,10.0.0.0/8",
                                          .user_header = "X-User"};
    struct ht_error err = {0};
    if (proxies == NULL && proxies_new(&wanted, &proxies, &err) != HT_OK)
        proxies = NULL;
    const struct arrival_words words = {.from = "127.0.0.1",
                                        .forwarded_for = lines[0],
                                        .forwarded_proto = lines[1],
                                        .user = lines[2],
                                        .n_for = 1,
                                        .n_proto = 1,
                                        .n_user = 1};
    struct arrival arrival = {0};
    check_refusal(arrival_read(proxies, &words, &arrival, &err), &err);
    if (memchr(arrival.peer, '\0', sizeof arrival.peer) == NULL)
        abort();
}

static void open_cookie(const char *cookie)
{
    static struct sessions *sessions;
    struct session session;
    if (sessions == NULL)
        sessions = sessions_new("secret", NULL);
    if (sessions_open(sessions, cookie, 0, &session))
        abort(); /* its signature would have been guessed */
}

static void mask(struct arena *arena, const char *text)
{
    static const char *const resources[] = {"HyperparameterTuningJob", "Study",
                                            "Trial", "Job"};
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        const struct message *type = resource_members_of(resources[i]);
        struct strings paths = {0};
        struct ht_error err = {0};
        if (type == NULL)
            continue;
        const enum ht_status status =
            read_mask_read(arena, text, type, &paths, &err);
        check_refusal(status, &err);
        if (status != HT_OK)
            continue;
        cJSON *resource = cJSON_Parse(
            "{\"name\":\"n\",\"labels\":{\"a\":\"1\"},\"studySpec\":{"
            "\"metrics\":[{\"metricId\":\"m\"}]},\"trials\":[{\"id\":\"1\"}]}");
        read_mask_apply(&paths, resource);
        cJSON_Delete(resource);
    }
}

static void check_page(struct request *req)
{
    struct query_page page, again;
    struct ht_error err = {0};
    const enum ht_status status = query_page(req, &page, &err);
    check_refusal(status, &err);
    if (status != HT_OK)
        return;
    if (page.size < 1 || page.size > PAGE_MOST || page.token < 0)
        abort();
    /* Our token for the next page of this list comes back as it was. */
    struct pair pairs[3];
    size_t n = 0;
    for (size_t i = 0; i < req->query.n && n < 2; i++)
        if (strcmp(req->query.items[i].name, "filter") == 0)
            pairs[n++] = req->query.items[i];
    pairs[n++] = (struct pair){"pageToken", query_page_token(req, 77)};
    req->query = (struct pairs){.n = n, .items = pairs};
    if (query_page(req, &again, NULL) != HT_OK || again.token != 77)
        abort();
}

static void query(const char *lines[LINES], size_t n)
{
    struct request *req = request_new();
    struct pair items[LINES];
    struct pairs said = {.items = items};
    struct ht_error err = {0};
    for (size_t i = OTHERS; i + 1 < n; i += 2)
        items[said.n++] = (struct pair){lines[i], lines[i + 1]};
    const enum ht_status status = query_take(
        req, "filter pageSize pageToken limit all view", &said, &err);
    check_refusal(status, &err);
    if (status == HT_OK) {
        static const char *const views[] = {"BASIC", "FULL", NULL};
        const struct number_range range = {1, 1000, 10};
        int64_t limit = 0;
        size_t view = 0;
        bool all = false;
        if (query_number(req, "limit", &range, &limit, NULL) == HT_OK &&
            (limit < 1 || limit > 1000))
            abort();
        if (query_choice(req, "view", views, &view, NULL) == HT_OK && view > 1)
            abort();
        (void)query_flag(req, "all", &all, NULL);
        check_page(req);
    }
    request_free(req);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_init();
    struct arena *arena = arena_new();
    char *at = arena_strndup(arena, (const char *)data, size);
    const char *lines[LINES] = {NULL};
    size_t n = 0;
    while (at != NULL && n < LINES)
        lines[n++] = strsep(&at, "\n");
    arrive(lines);
    open_cookie(n > 3 ? lines[3] : "");
    mask(arena, n > 4 ? lines[4] : NULL);
    query(lines, n);
    arena_free(arena);
    return 0;
}
