/* `gcloud-env`: the variables that point gcloud and Google's Python SDK at the
 * server. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/frame/server.h"
#include "hypertune/cli/frame/shell.h"
#include "hypertune/cli/host/gcloud_config.h"
#include "proto/doc/json.h"

/* What the variables were before the first gcloud-env of this shell. */
static const char record_name[] = "HYPERTUNE_GCLOUD_BEFORE";

/* A region that gcloud takes; it refuses "local" without asking any server. */
static const char default_region[] = "us-central1";

struct gcloud_env {
    struct cli *cli;
    struct shell_change before; /* by the record, if there is one */
    struct shell_change wanted;
    const char *url;        /* of the server, without a final slash */
    const char *token_file; /* absolute; NULL: nobody needs a token */
    const char *project, *region;
};

/* The value before the first gcloud-env; NULL: it was not set. */
static const char *original(const struct gcloud_env *env, const char *name)
{
    const struct shell_variable *variable = shell_find(&env->before, name);
    return variable != NULL ? variable->value
                            : shell_value(env->cli->environment, name);
}

static const char *original_text(const struct gcloud_env *env, const char *name)
{
    const char *value = original(env, name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void want(struct gcloud_env *env, const char *name, const char *value)
{
    shell_set(&env->wanted, name, value);
}

/* ---- project and region: of the command line, else of the person's gcloud */

static const char *person_setting(struct gcloud_env *env, const char *variable,
                                  const char *section, const char *key)
{
    struct arena *arena = env->cli->arena;
    const char *value = original_text(env, variable);
    const char *folder = original_text(env, "CLOUDSDK_CONFIG");
    const char *home = original_text(env, "HOME");
    if (folder == NULL && home != NULL)
        folder = arena_printf(arena, "%s/.config/gcloud", home);
    if (value != NULL || folder == NULL)
        return value;
    return gcloud_config_get(arena, folder,
                             original_text(env, "CLOUDSDK_ACTIVE_CONFIG_NAME"),
                             section, key);
}

static void choose_names(struct gcloud_env *env)
{
    const struct cli_settings *set = &env->cli->set;
    env->project = set->project;
    if (env->project == NULL)
        env->project =
            person_setting(env, "CLOUDSDK_CORE_PROJECT", "core", "project");
    if (env->project == NULL)
        env->project = "local";
    env->region = set->region;
    if (env->region == NULL)
        env->region = person_setting(env, "CLOUDSDK_AI_REGION", "ai", "region");
    if (env->region == NULL)
        env->region =
            person_setting(env, "CLOUDSDK_COMPUTE_REGION", "compute", "region");
    if (env->region == NULL)
        env->region = default_region;
}

/* ---- the variables ---- */

/* Every API that gcloud's commands for jobs ask: what this server does not
 * have it refuses in words, and its token goes nowhere else. */
static void want_endpoints(struct gcloud_env *env)
{
    static const char *const apis[] = {
        "ML",      "AIPLATFORM",           "LOGGING",
        "STORAGE", "CLOUDRESOURCEMANAGER", "SERVICEUSAGE"};
    struct arena *arena = env->cli->arena;
    const char *url = arena_printf(arena, "%s/", env->url);
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++)
        want(env,
             arena_printf(arena, "CLOUDSDK_API_ENDPOINT_OVERRIDES_%s", apis[i]),
             url);
}

static void want_credentials(struct gcloud_env *env)
{
    /* What chooses other credentials or another account. */
    static const char *const others[] = {
        "CLOUDSDK_ACTIVE_CONFIG_NAME", "CLOUDSDK_CORE_ACCOUNT",
        "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE",
        "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        want(env, others[i], NULL);
    want(env, "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", env->token_file);
    want(env, "CLOUDSDK_AUTH_DISABLE_CREDENTIALS",
         env->token_file == NULL ? "true" : NULL);
}

/* gcloud asks for logs once a minute unless it is told otherwise. */
static void want_manners(struct gcloud_env *env)
{
    static const char polling[] = "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL";
    const char *interval = original_text(env, polling);
    want(env, "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true");
    want(env, "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true");
    want(env, "CLOUDSDK_SURVEY_DISABLE_PROMPTS", "true");
    want(env, polling, interval != NULL ? interval : "5");
}

/* "127.0.0.1" of "http://127.0.0.1:8470". */
static const char *host_of(const struct gcloud_env *env)
{
    const char *host = strstr(env->url, "://");
    host = host != NULL ? host + 3 : env->url;
    size_t len = host[0] == '[' ? strcspn(++host, "]") : strcspn(host, ":/");
    return arena_strndup(env->cli->arena, host, len);
}

static bool is_loopback(const char *host)
{
    struct in_addr address;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (inet_pton(AF_INET, host, &address) == 1 &&
            ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

static bool list_has(const char *list, const char *item)
{
    size_t len = strlen(item);
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        at += strspn(at, " ");
        size_t n = strcspn(at, ", ");
        if (n == len && strncasecmp(at, item, len) == 0)
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

/* A proxy cannot reach this machine's loopback. Python reads the variable in
 * small letters first, so both get the whole list. */
static void want_no_proxy(struct gcloud_env *env)
{
    static const char *const names[] = {"no_proxy", "NO_PROXY"};
    static const char *const proxies[] = {
        "CLOUDSDK_PROXY_TYPE", "CLOUDSDK_PROXY_ADDRESS", "CLOUDSDK_PROXY_PORT"};
    const char *host = host_of(env);
    if (!is_loopback(host))
        return;
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
        want(env, proxies[i], NULL);
    const char *list = original_text(env, names[0]);
    if (list == NULL)
        list = original_text(env, names[1]);
    if (list == NULL)
        list = host;
    else if (!list_has(list, host))
        list = arena_printf(env->cli->arena, "%s,%s", list, host);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        want(env, names[i], list);
}

static int want_all(struct gcloud_env *env, const char *state)
{
    struct ht_error err;
    const char *folder;
    if (gcloud_config_make(env->cli->arena, state, &folder, &err) != HT_OK)
        return cli_fail(env->cli, CLI_REFUSED, "%s", err.text);
    want(env, "CLOUDSDK_CONFIG", folder);
    want(env, "CLOUDSDK_CORE_PROJECT", env->project);
    want(env, "CLOUDSDK_AI_REGION", env->region);
    want(env, "CLOUDSDK_COMPUTE_REGION", env->region);
    /* Any other one gcloud puts into the host's name. */
    want(env, "CLOUDSDK_AI_PLATFORM_REGION", "global");
    want(env, "GOOGLE_CLOUD_PROJECT", env->project);
    want(env, "GOOGLE_CLOUD_REGION", env->region);
    want_endpoints(env);
    want_credentials(env);
    want_manners(env);
    want_no_proxy(env);
    return CLI_DONE;
}

/* ---- from what is wanted to what has to change ---- */

/* Puts `change` to what the shell has to do: first the way back from an earlier
 * gcloud-env that wanted more, then what is wanted now, and the record. */
static void settle(const struct gcloud_env *env, struct shell_change *change)
{
    struct cli *cli = env->cli;
    struct shell_change record = {0};
    struct text text = {0};
    *change = (struct shell_change){0};
    for (size_t i = 0; i < env->before.n; i++) {
        const struct shell_variable *old = &env->before.items[i];
        if (shell_find(&env->wanted, old->name) == NULL)
            shell_set(change, old->name, old->value);
    }
    for (size_t i = 0; i < env->wanted.n; i++) {
        const struct shell_variable *now = &env->wanted.items[i];
        const char *old = original(env, now->name);
        bool is_set = shell_value(cli->environment, now->name) != NULL;
        if (now->value == NULL && old == NULL && !is_set)
            continue;
        shell_set(change, now->name, now->value);
        shell_set(&record, now->name, old);
    }
    shell_print_record(&record, &text);
    shell_set(change, record_name, arena_strdup(cli->arena, text.data));
    text_free(&text);
}

/* The comment stands behind all else: a shell that makes one line of what it
 * evaluates skips the rest of it. */
static int print_change(struct cli *cli, const struct shell_change *change,
                        const char *comment)
{
    struct text out = {0};
    const char *own = cli_own_format(cli);
    bool fish = own != NULL && strcmp(own, "fish") == 0;
    if (cli->format == FORMAT_JSON) {
        shell_print_record(change, &out);
        text_puts(&out, "\n");
    } else {
        shell_print(change, fish ? SHELL_FISH : SHELL_POSIX, &out);
        text_puts(&out, comment);
    }
    return cli_print(&out);
}

/* The same for the Python SDK, which no variable leads here. */
static const char *python_lines(const struct gcloud_env *env)
{
    struct text lines = {0}, *out = &lines;
    text_puts(out, env->token_file != NULL
                       ? "# from google.cloud import aiplatform; "
                         "from google.oauth2.credentials import Credentials\n"
                       : "# from google.cloud import aiplatform; from "
                         "google.auth.credentials import "
                         "AnonymousCredentials\n");
    text_puts(out, "# aiplatform.init(project=");
    quote_json(out, env->project);
    text_puts(out, ", location=");
    quote_json(out, env->region);
    text_puts(out, ", api_transport=\"rest\", api_endpoint=");
    quote_json(out, env->url);
    text_puts(out, ", credentials=");
    if (env->token_file != NULL) {
        text_puts(out, "Credentials(open(");
        quote_json(out, env->token_file);
        text_puts(out, ").read().strip()))\n");
    } else {
        text_puts(out, "AnonymousCredentials())\n");
    }
    const char *kept = arena_strdup(env->cli->arena, lines.data);
    text_free(&lines);
    return kept;
}

/* ---- the server ---- */

/* Does it answer without any token? */
static bool is_open(struct cli *cli)
{
    struct cli_http_settings settings = {.url = cli_http_url(cli->http)};
    struct cli_http_request request = {"GET", "/hypertune/v1/server", NULL};
    struct cli_http_answer answer;
    struct cli_http *http = cli_http_new(&settings);
    bool open =
        cli_http_call(http, cli->arena, &request, &answer, NULL) == HT_OK;
    cli_http_free(http);
    return open;
}

static int find_server(struct gcloud_env *env)
{
    struct cli *cli = env->cli;
    struct ht_error err;
    struct cli_http_answer answer;
    int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    env->url = cli_http_url(cli->http);
    if (cli_call(cli, "GET", "/hypertune/v1/server", NULL, &answer, &err) !=
        HT_OK)
        return cli_fail_error(cli, &err);
    if (is_open(cli))
        return CLI_DONE;
    char *path = realpath(cli->token_file, NULL);
    env->token_file = arena_strdup(cli->arena, path ? path : cli->token_file);
    free(path);
    return CLI_DONE;
}

/* The folder of our state, absolute; NULL after having said why. */
static const char *state_folder(struct cli *cli)
{
    struct ht_error err;
    const char *folder = cli_state_folder(cli);
    if (folder == NULL) {
        cli_fail(cli, CLI_REFUSED,
                 "no folder for gcloud's settings: HOME is "
                 "not set\n  name one with HYPERTUNE_STATE");
        return NULL;
    }
    if (cli_server_make_folder(cli->arena, folder, &err) != HT_OK) {
        cli_fail(cli, CLI_REFUSED, "%s", err.text);
        return NULL;
    }
    char *path = realpath(folder, NULL);
    folder = arena_strdup(cli->arena, path != NULL ? path : folder);
    free(path);
    return folder;
}

static void advise(const struct gcloud_env *env, bool has_images)
{
    struct cli *cli = env->cli;
    cli_say(cli, "gcloud and the Python SDK: %s, project %s, region %s",
            env->url, env->project, env->region);
    if (cli->out_tty)
        cli_say(cli, "  to use it: eval \"$(hypertune gcloud-env%s)\"",
                cli_where(cli));
    if (!has_images)
        cli_say(cli, "warning: nobody runs images here, so jobs will wait; see "
                     "hypertune doctor");
}

static int undo(struct gcloud_env *env)
{
    struct cli *cli = env->cli;
    if (shell_value(cli->environment, record_name) == NULL) {
        cli_say(cli, "nothing to undo: no hypertune gcloud-env in this shell");
        return CLI_DONE;
    }
    shell_set(&env->before, record_name, NULL);
    return print_change(cli, &env->before, "");
}

int cli_gcloud_env(struct cli *cli)
{
    struct gcloud_env env = {.cli = cli};
    struct shell_change change;
    bool has_images;
    if (cli->set.output != NULL && cli->format != FORMAT_JSON &&
        cli_own_format(cli) == NULL)
        return cli_fail(cli, CLI_USAGE, "-o is sh, fish or json here");
    const char *record = shell_value(cli->environment, record_name);
    if (record != NULL)
        shell_read_record(cli->arena, record, &env.before);
    if (cli->set.unset)
        return undo(&env);
    const char *state = state_folder(cli);
    if (state == NULL)
        return CLI_REFUSED;
    int code = find_server(&env);
    if (code == CLI_DONE)
        code = cli_runners_offer_images(cli, &has_images);
    if (code != CLI_DONE)
        return code;
    choose_names(&env);
    code = want_all(&env, state);
    if (code != CLI_DONE)
        return code;
    settle(&env, &change);
    advise(&env, has_images);
    return print_change(cli, &change, python_lines(&env));
}
