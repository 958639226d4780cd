#include "hypertune/cli/host/join.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/server.h"
#include "proto/base/replace_file.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"

#define PREFIX "ht_n_" /* as the server's own tokens of runners begin */
enum { SECRET_BYTES = sizeof PREFIX + TOKEN_TEXT_BYTES };

struct join {
    const char *url;
    const char *token; /* of the role join, or NULL */
    struct trust trust;
    const char *folder; /* of this machine's token for that server */
    char secret[SECRET_BYTES];
};

/* --- words --- */

/* Whether words[*i] begins "FLAG VALUE" or "FLAG=VALUE"; then *i moves over
 * it. */
static bool take(const struct words *words, size_t *i, const char *flag,
                 const char **value)
{
    const char *word = words->items[*i];
    const size_t len = strlen(flag);
    if (strncmp(word, flag, len) != 0)
        return false;
    if (word[len] == '=')
        *value = word + len + 1;
    else if (word[len] == '\0' && *i + 1 < words->n)
        *value = words->items[++*i];
    else
        return false;
    return true;
}

static const char *read_stdin(struct cli *cli)
{
    char line[SECRET_BYTES] = "";
    if (fgets(line, sizeof line, stdin) == NULL)
        return "";
    line[strcspn(line, "\r\n")] = '\0';
    return arena_strdup(cli->lasting, line);
}

/* What the word at *i says of trust; *i moves over its value. */
static void read_trust(const struct words *words, size_t *i,
                       struct trust *trust)
{
    if (strcmp(words->items[*i], "--insecure") == 0)
        trust->insecure = true;
    else if (!take(words, i, "--ca", &trust->ca) &&
             !take(words, i, "--pin", &trust->pin) &&
             !take(words, i, "--cert", &trust->cert))
        (void)take(words, i, "--key", &trust->key);
}

/* False: there is no URL. */
static bool read_words(struct cli *cli, struct join *join)
{
    const struct words *words = &cli->args.words;
    struct words rest = {0};
    const char *url = words->n < 2 ? "" : words->items[1];
    const size_t len = strlen(url);
    if (len == 0 || url[0] == '-')
        return false;
    join->url = arena_strndup(cli->lasting, url, len - (url[len - 1] == '/'));
    join->trust = cli_named_trust(cli);
    for (size_t i = 2; i < words->n; i++) {
        size_t at = i;
        if (take(words, &i, "--token", &join->token))
            continue;
        read_trust(words, &i, &join->trust);
        while (at <= i)
            words_add(cli->lasting, &rest, words->items[at++]);
    }
    cli->args.words = rest;
    if (join->token != NULL && strcmp(join->token, "-") == 0)
        join->token = read_stdin(cli);
    return true;
}

/* --- this machine's token --- */

/* Below the state folder, by the server's host and port. */
static const char *folder_of(struct cli *cli, const char *url)
{
    const char *scheme = strstr(url, "://");
    char *name = arena_strdup(cli->lasting, scheme != NULL ? scheme + 3 : url);
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && (*at != '.' || at == name))
            *at = '_';
    return arena_printf(cli->lasting, "%s/joined/%s", cli_state_folder(cli),
                        name);
}

/* It is stored before the server learns its hash, so that no answer that gets
 * lost takes it away. */
static enum ht_status make_secret(struct join *join, struct ht_error *err)
{
    char text[TOKEN_TEXT_BYTES], line[SECRET_BYTES + 1];
    token_make(text, TOKEN_ADMIN_BYTES);
    snprintf(join->secret, sizeof join->secret, PREFIX "%s", text);
    const int len = snprintf(line, sizeof line, "%s\n", join->secret);
    return replace_file(join->folder, "token", line, (size_t)len, err);
}

static enum ht_status open_secret(struct cli *cli, struct join *join,
                                  struct ht_error *err)
{
    const char *path = arena_printf(cli->lasting, "%s/token", join->folder);
    enum ht_status status =
        cli_server_make_folder(cli->lasting, join->folder, err);
    if (status != HT_OK)
        return status;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return errno == ENOENT
                   ? make_secret(join, err)
                   : ht_fail_errno(err, errno, "cannot read %s", path);
    if (fgets(join->secret, sizeof join->secret, file) == NULL ||
        strncmp(join->secret, PREFIX, strlen(PREFIX)) != 0)
        status = ht_fail(err, HT_PRECONDITION,
                         "%s holds no token: remove it and join again", path);
    fclose(file);
    join->secret[strcspn(join->secret, "\n")] = '\0';
    return status;
}

/* --- the server --- */

static enum ht_status ask(struct cli *cli, const struct join *join,
                          const char *token,
                          const struct cli_http_request *request,
                          struct cli_http_answer *answer, struct ht_error *err)
{
    const struct cli_http_settings settings = {
        .url = join->url, .token = token, .trust = join->trust};
    struct cli_http *http = cli_http_new(&settings);
    const enum ht_status status =
        cli_http_call(http, cli->arena, request, answer, err);
    cli_http_free(http);
    return status;
}

/* HT_UNAUTHENTICATED: the server does not know this machine's token. */
static enum ht_status check_member(struct cli *cli, const struct join *join,
                                   struct ht_error *err)
{
    const struct cli_http_request request = {.method = "GET",
                                             .path = "/hypertune/v1/server"};
    struct cli_http_answer answer;
    return ask(cli, join, join->secret, &request, &answer, err);
}

static int enter(struct cli *cli, const struct join *join)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    char text[TOKEN_TEXT_BYTES];
    struct cli_http_answer answer = {0};
    struct ht_error err;
    cJSON *body = cJSON_CreateObject();
    token_hash(hash, join->secret);
    token_hex(text, hash);
    json_add_string(body, "hash", text);
    const struct cli_http_request request = {
        .method = "POST",
        .path = "/hypertune/v1/runners:join",
        .body = json_text(cli->arena, body)};
    if (ask(cli, join, join->token, &request, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "joined %s as %s: the same command starts this runner again",
            join->url, node_get_string(answer.root, "name", ""));
    return CLI_DONE;
}

static int join_server(struct cli *cli, const struct join *join)
{
    struct ht_error err;
    const enum ht_status status = check_member(cli, join, &err);
    if (status == HT_OK)
        return CLI_DONE;
    if (status != HT_UNAUTHENTICATED)
        return cli_fail_error(cli, &err);
    if (join->token == NULL)
        return cli_fail(cli, CLI_DENIED,
                        "this machine is no runner of %s: give it --token "
                        "TOKEN, which an admin makes by\n"
                        "  hypertune token create NAME --role join",
                        join->url);
    return enter(cli, join);
}

int cli_join(struct cli *cli, struct words *flags)
{
    struct join join = {0};
    struct ht_error err;
    if (!read_words(cli, &join))
        return cli_fail(cli, CLI_USAGE,
                        "usage: hypertune runner join URL --token TOKEN "
                        "[FLAGS OF hypertune-runner]");
    if (cli_state_folder(cli) == NULL)
        return cli_fail(cli, CLI_USAGE,
                        "HOME is not set: name a folder by HYPERTUNE_STATE");
    join.folder = folder_of(cli, join.url);
    if (trust_check(&join.trust, join.url, true, &err) != HT_OK ||
        open_secret(cli, &join, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    const int code = join_server(cli, &join);
    words_add(cli->arena, flags, "--server");
    words_add(cli->arena, flags, join.url);
    words_add(cli->arena, flags, "--token-file");
    words_add(cli->arena, flags,
              arena_printf(cli->arena, "%s/token", join.folder));
    return code;
}
