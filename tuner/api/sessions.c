#include "tuner/api/sessions.h"

#include "tuner/base/session_board.h"
#include "tuner/core/core.h"
#include "tuner/db/sessions.h"

static int64_t now_s(struct core *core)
{
    return core_wall_ms(core) / 1000;
}

static void apply_add(struct core *core, const void *data)
{
    (void)session_board_add(core_options_of(core)->sessions, data, now_s(core));
}

enum ht_status session_recover(struct core *core, struct ht_error *err)
{
    struct session_board *board = core_options_of(core)->sessions;
    struct arena *arena = arena_new();
    struct session_list list = {0};
    const enum ht_status status =
        board == NULL ? HT_OK
                      : db_session_list(core_db(core), arena, &list, err);
    for (size_t i = 0; i < list.n; i++)
        (void)session_board_add(board, &list.rows[i], now_s(core));
    arena_free(arena);
    return status;
}

enum ht_status session_leave(struct core *core, struct request *req,
                             struct ht_error *err)
{
    const struct left_session left = {req->session, req->session_until_s};
    int64_t n = 0;
    enum ht_status status = db_session_prune(core_db(core), now_s(core), err);
    if (status == HT_OK)
        status = db_session_count(core_db(core), &n, err);
    if (status == HT_OK && n >= SESSIONS_LEFT_MOST)
        status =
            ht_fail(err, HT_LIMIT,
                    "%d sessions have been left, no more are stored: rotate "
                    "the token that opened this one to end it",
                    SESSIONS_LEFT_MOST);
    if (status == HT_OK)
        status = db_session_leave(core_db(core), &left, err);
    if (status != HT_OK)
        return status;
    core_defer(core, apply_add, &left, sizeof left);
    text_puts(&req->reply, "{}");
    return HT_OK;
}
