#include "tuner/api/tokens.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/db/db.h"
#include "tuner/db/tokens.h"

enum {
    GRACE_MS = 24 * 3600 * 1000,    /* of an old secret */
    JOIN_MS = 24 * 3600 * 1000,     /* until a join token expires by itself */
    SHARE_MS = 7 * 24 * 3600 * 1000 /* until that of one study does */
};

/* "ht_a_" and 64 hex digits: scanners for leaked secrets find the beginning. */
enum { SECRET_BYTES = TOKEN_TEXT_BYTES + 5 };

static void make_secret(struct token_row *row, char secret[SECRET_BYTES])
{
    static const char letters[TOKEN_ROLES] = {'a', 's', 'r', 'n', 'j', 'h'};
    char text[TOKEN_TEXT_BYTES];
    token_make(text, TOKEN_ADMIN_BYTES);
    snprintf(secret, SECRET_BYTES, "ht_%c_%s", letters[row->role], text);
    token_hash(row->hash, secret);
    explicit_bzero(text, sizeof text);
}

/* --- the board follows the database --- */

static void apply_put(struct core *core, const void *data)
{
    (void)token_board_put(core_options_of(core)->tokens, data);
}

static void apply_drop(struct core *core, const void *data)
{
    token_board_drop(core_options_of(core)->tokens, *(const int64_t *)data);
}

static enum ht_status save(struct core *core, struct token_row *row,
                           struct ht_error *err)
{
    const enum ht_status status = db_token_save(core_db(core), row, err);
    if (status == HT_OK)
        core_defer(core, apply_put, row, sizeof *row);
    return status;
}

enum ht_status token_recover(struct core *core, struct ht_error *err)
{
    struct token_board *board = core_options_of(core)->tokens;
    struct arena *arena = arena_new();
    struct token_list list = {0};
    const enum ht_status status =
        board == NULL ? HT_OK : db_token_list(core_db(core), arena, &list, err);
    for (size_t i = 0; i < list.n; i++)
        (void)token_board_put(board, &list.rows[i]);
    arena_free(arena);
    return status;
}

/* --- as JSON --- */

static void add_time(cJSON *object, const char *name, int64_t ms)
{
    char stamp[CLOCK_STAMP_BYTES];
    if (ms > 0)
        json_add_string(object, name, clock_stamp(stamp, ms));
}

static void add_text_of(cJSON *object, const char *name, const char *text)
{
    if (text[0] != '\0')
        json_add_string(object, name, text);
}

static void fill(cJSON *object, const struct token_row *row)
{
    json_add_string(object, "name", row->name);
    json_add_string(object, "role", token_role_name(row->role));
    add_text_of(object, "project", row->project);
    if (row->study > 0)
        json_add_int_text(object, "study", row->study);
    add_text_of(object, "runner", row->runner);
    json_add_string(object, "createdBy", row->created_by);
    add_time(object, "createTime", row->created_ms);
    add_time(object, "expireTime", row->expires_ms);
    add_time(object, "revokeTime", row->revoked_ms);
    add_time(object, "oldSecretExpireTime", row->old_until_ms);
}

static enum ht_status answer(struct request *req, const struct token_row *row,
                             const char *secret)
{
    cJSON *object = cJSON_CreateObject();
    fill(object, row);
    if (secret != NULL)
        json_add_string(object, "secret", secret);
    json_print(object, &req->reply);
    return HT_OK;
}

enum ht_status token_show(struct core *core, struct request *req,
                          struct ht_error *err)
{
    struct token_list list = {0};
    const enum ht_status status =
        db_token_list(core_db(core), req->arena, &list, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    cJSON *tokens = json_add_array(object, "tokens");
    for (size_t i = 0; i < list.n; i++)
        fill(json_push_object(tokens), &list.rows[i]);
    json_print(object, &req->reply);
    return HT_OK;
}

/* --- create --- */

struct wanted {
    const char *name, *role;
    const char *project, *study, *expire; /* NULL: all, all, never */
};

static const struct field wanted_fields[] = {
    {"name", field_text, .offset = offsetof(struct wanted, name)},
    {"role", field_text, .offset = offsetof(struct wanted, role)},
    {"project", field_text, .offset = offsetof(struct wanted, project)},
    {"study", field_text, .offset = offsetof(struct wanted, study)},
    {"expire", field_text, .offset = offsetof(struct wanted, expire)},
    {0}};

/* Events name their actor by the token, so a name must not be an actor's. */
static bool is_name(const char *name)
{
    static const char *const taken[] = {"admin",  "submit", "read",
                                        "runner", "join",   "share",
                                        "trial",  "client", "core"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t len = strlen(name);
    if (len == 0 || len >= TOKEN_NAME_BYTES || strspn(name, letters) != len ||
        strchr("._-", name[0]) != NULL)
        return false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return true;
}

static enum ht_status read_role(const struct wanted *wanted,
                                struct token_row *row, struct ht_error *err)
{
    int role = 0;
    while (role < TOKEN_ROLES &&
           strcmp(wanted->role, token_role_name((enum token_role)role)) != 0)
        role++;
    if (role == TOKEN_ROLES)
        return ht_fail(err, HT_INVALID,
                       "role: \"%.40s\" is not admin, submit, read, runner, "
                       "join or share",
                       wanted->role);
    row->role = (enum token_role)role;
    if (wanted->project != NULL && row->role != TOKEN_OF_SUBMITTER &&
        row->role != TOKEN_OF_READER)
        return ht_fail(err, HT_INVALID,
                       "project: only the roles submit and read may be limited "
                       "to a project");
    return HT_OK;
}

/* The study of a share, which it names unless it has a name. */
static enum ht_status read_study(struct core *core, struct request *req,
                                 struct wanted *wanted, struct token_row *row,
                                 struct ht_error *err)
{
    static const struct study_scope anywhere = {0};
    struct study_row study;
    if ((row->role == TOKEN_OF_SHARE) != (wanted->study != NULL))
        return ht_fail(err, HT_INVALID,
                       "study: the role share needs the name or number of a "
                       "study, and no other role may have one");
    if (wanted->study == NULL)
        return HT_OK;
    const enum ht_status status = db_study_find(
        core_db(core), req->arena, &anywhere, wanted->study, &study, err);
    if (status != HT_OK)
        return status;
    req->subject = (struct audit_subject){
        .study = study.id, .project = study.project, .name = study.name};
    row->study = study.id;
    if (wanted->name == NULL)
        wanted->name =
            arena_printf(req->arena, "share-%lld-%06llx", (long long)study.id,
                         (unsigned long long)token_random64() >> 40);
    return HT_OK;
}

/* How long it is valid when the request does not say; 0: until it is revoked.
 */
static int64_t default_ms(enum token_role role)
{
    return role == TOKEN_OF_JOINER  ? JOIN_MS
           : role == TOKEN_OF_SHARE ? SHARE_MS
                                    : 0;
}

/* A duration from now, or a time. */
static enum ht_status read_expiry(struct core *core, const char *text,
                                  struct token_row *row, struct ht_error *err)
{
    int64_t ms, *at_ms = &row->expires_ms;
    const int64_t now_ms = core_wall_ms(core);
    if (text == NULL) {
        ms = default_ms(row->role);
        *at_ms = ms > 0 ? now_ms + ms : 0;
        return HT_OK;
    }
    if (clock_read_duration(text, &ms))
        *at_ms = ms > INT64_MAX - now_ms ? INT64_MAX : now_ms + ms;
    else if (!clock_read_stamp(text, at_ms))
        return ht_fail(err, HT_INVALID,
                       "expire: \"%.40s\" is no duration (720h) and no time "
                       "(2030-01-31T12:00:00Z)",
                       text);
    return *at_ms > now_ms
               ? HT_OK
               : ht_fail(err, HT_INVALID, "expire: %.40s has passed", text);
}

static enum ht_status read_wanted(struct core *core, struct request *req,
                                  struct token_row *row, struct ht_error *err)
{
    struct wanted wanted = {.role = ""};
    enum ht_status status = trial_body_read(req, wanted_fields, &wanted, err);
    if (status == HT_OK)
        status = faults_check(req, err);
    if (status == HT_OK)
        status = read_role(&wanted, row, err);
    if (status == HT_OK)
        status = read_study(core, req, &wanted, row, err);
    if (status == HT_OK && (wanted.name == NULL || !is_name(wanted.name)))
        status = ht_fail(err, HT_INVALID,
                         "name: \"%.64s\" is not 1 to %d of a-z 0-9 . _ - "
                         "(first a letter or digit), or is a role's name",
                         wanted.name != NULL ? wanted.name : "",
                         TOKEN_NAME_BYTES - 1);
    /* An unset variable of a script must not make a token for all of them. */
    if (status == HT_OK && wanted.project != NULL &&
        (wanted.project[0] == '\0' || strlen(wanted.project) > HT_MAX_NAME))
        status = ht_fail(err, HT_INVALID, "project: must have 1 to %d bytes",
                         HT_MAX_NAME);
    if (status == HT_OK)
        status = read_expiry(core, wanted.expire, row, err);
    if (status != HT_OK)
        return status;
    snprintf(row->name, sizeof row->name, "%s", wanted.name);
    snprintf(row->project, sizeof row->project, "%s",
             wanted.project != NULL ? wanted.project : "");
    return HT_OK;
}

static enum ht_status check_new(struct core *core, struct request *req,
                                const struct token_row *row,
                                struct ht_error *err)
{
    struct token_list list = {0};
    const enum ht_status status =
        db_token_list(core_db(core), req->arena, &list, err);
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(list.rows[i].name, row->name) == 0)
            return ht_fail(err, HT_EXISTS,
                           "there is a token \"%s\": rotate or delete it",
                           row->name);
    if (status == HT_OK && list.n >= TOKENS_MOST)
        return ht_fail(err, HT_LIMIT,
                       "there are %d tokens: delete some that are revoked",
                       TOKENS_MOST);
    return status;
}

/* A token made where nobody is asked for one would be valid later. */
static enum ht_status check_asked(struct core *core, const struct request *req,
                                  struct ht_error *err)
{
    if (core_options_of(core)->tokens != NULL &&
        strcmp(req->from.name, "client") != 0)
        return HT_OK;
    return ht_fail(err, HT_PRECONDITION,
                   "this server asks for no tokens (--auth none)");
}

enum ht_status token_create(struct core *core, struct request *req,
                            struct ht_error *err)
{
    char secret[SECRET_BYTES];
    struct token_row row = {.created_ms = core_wall_ms(core)};
    enum ht_status status = check_asked(core, req, err);
    if (status == HT_OK)
        status = read_wanted(core, req, &row, err);
    if (status == HT_OK)
        status = check_new(core, req, &row, err);
    if (status != HT_OK)
        return status;
    req->subject.detail = arena_printf(req->arena, "token %s, role %s",
                                       row.name, token_role_name(row.role));
    snprintf(row.created_by, sizeof row.created_by, "%.63s", req->from.name);
    make_secret(&row, secret);
    status = save(core, &row, err);
    return status == HT_OK ? answer(req, &row, secret) : status;
}

/* --- changes --- */

static enum ht_status find(struct core *core, struct request *req,
                           struct token_row *row, struct ht_error *err)
{
    const enum ht_status status =
        db_token_get(core_db(core), req->arena, req->token, row, err);
    /* Only the name of one that there is: the path may have a secret. */
    if (status == HT_OK)
        req->subject.detail = arena_printf(req->arena, "token %s", row->name);
    return status;
}

static enum ht_status end(struct core *core, struct token_row *row,
                          struct ht_error *err)
{
    if (row->revoked_ms > 0)
        return HT_OK;
    row->revoked_ms = core_wall_ms(core);
    return save(core, row, err);
}

enum ht_status token_revoke(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct token_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status == HT_OK)
        status = end(core, &row, err);
    return status == HT_OK ? answer(req, &row, NULL) : status;
}

enum ht_status token_end_study(struct core *core, struct arena *arena,
                               int64_t study, struct ht_error *err)
{
    struct token_list list = {0};
    enum ht_status status = db_token_list(core_db(core), arena, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++)
        if (list.rows[i].study == study)
            status = end(core, &list.rows[i], err);
    return status;
}

struct rotation {
    const char *grace;
};

static const struct field rotation_fields[] = {
    {"grace", field_text, .offset = offsetof(struct rotation, grace)}, {0}};

enum ht_status token_rotate(struct core *core, struct request *req,
                            struct ht_error *err)
{
    char secret[SECRET_BYTES];
    struct rotation wanted = {.grace = ""};
    struct token_row row;
    int64_t grace_ms = GRACE_MS;
    const int64_t now_ms = core_wall_ms(core);
    enum ht_status status = check_asked(core, req, err);
    if (status == HT_OK)
        status = find(core, req, &row, err);
    if (status == HT_OK)
        status = trial_body_read(req, rotation_fields, &wanted, err);
    if (status == HT_OK)
        status = faults_check(req, err);
    if (status == HT_OK && wanted.grace[0] != '\0' &&
        (!clock_read_duration(wanted.grace, &grace_ms) ||
         grace_ms > INT64_MAX - now_ms))
        status = ht_fail(err, HT_INVALID, "grace: \"%.40s\" is no duration",
                         wanted.grace);
    if (status == HT_OK && (row.revoked_ms > 0 ||
                            (row.expires_ms > 0 && row.expires_ms <= now_ms)))
        status = ht_fail(err, HT_PRECONDITION,
                         "the token \"%s\" is revoked or expired: delete it "
                         "and make another one",
                         row.name);
    if (status != HT_OK)
        return status;
    memcpy(row.old_hash, row.hash, sizeof row.hash);
    row.old_until_ms = now_ms + grace_ms;
    make_secret(&row, secret);
    status = save(core, &row, err);
    return status == HT_OK ? answer(req, &row, secret) : status;
}

struct joining {
    const char *hash;
};

static const struct field joining_fields[] = {
    {"hash", field_text, .offset = offsetof(struct joining, hash)}, {0}};

static enum ht_status read_hash(struct request *req,
                                unsigned char hash[TOKEN_HASH_BYTES],
                                struct ht_error *err)
{
    struct joining joining = {.hash = ""};
    enum ht_status status = trial_body_read(req, joining_fields, &joining, err);
    if (status == HT_OK)
        status = faults_check(req, err);
    if (status == HT_OK && (strlen(joining.hash) != TOKEN_TEXT_BYTES - 1 ||
                            !token_unhex(hash, joining.hash)))
        status = ht_fail(err, HT_INVALID,
                         "hash: must be the SHA-256 of the runner's secret in "
                         "%d lower-case hex digits",
                         2 * TOKEN_HASH_BYTES);
    return status;
}

static enum ht_status check_unused(struct core *core, struct request *req,
                                   const unsigned char hash[TOKEN_HASH_BYTES],
                                   struct ht_error *err)
{
    struct token_list list = {0};
    const enum ht_status status =
        db_token_list(core_db(core), req->arena, &list, err);
    for (size_t i = 0; i < list.n; i++)
        if (token_equal(list.rows[i].hash, hash) ||
            token_equal(list.rows[i].old_hash, hash))
            return ht_fail(err, HT_INVALID, "hash: another token has it");
    return status;
}

/* The runner makes its secret itself, so that an answer that is lost takes
 * nothing from it. */
enum ht_status token_join(struct core *core, struct request *req,
                          struct ht_error *err)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    struct token_row row;
    req->token = req->from.name;
    enum ht_status status = read_hash(req, hash, err);
    if (status == HT_OK)
        status = find(core, req, &row, err);
    /* Another request may have used it since the gate let this one in. */
    if (status == HT_OK && (row.role != TOKEN_OF_JOINER || row.revoked_ms > 0))
        status = ht_fail(err, HT_PRECONDITION,
                         "the token \"%s\" was used: an admin makes another "
                         "one",
                         row.name);
    if (status == HT_OK)
        status = check_unused(core, req, hash, err);
    if (status != HT_OK)
        return status;
    row.role = TOKEN_OF_RUNNER;
    row.expires_ms = 0;
    row.old_until_ms = core_wall_ms(core);
    memcpy(row.old_hash, row.hash, sizeof row.hash);
    memcpy(row.hash, hash, sizeof row.hash);
    status = save(core, &row, err);
    return status == HT_OK ? answer(req, &row, NULL) : status;
}

enum ht_status token_delete(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct token_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status == HT_OK)
        status = db_token_delete(core_db(core), row.id, err);
    if (status != HT_OK)
        return status;
    core_defer(core, apply_drop, &row.id, sizeof row.id);
    text_puts(&req->reply, "{}");
    return HT_OK;
}
