/* gcloud_env.c - `gcloud-env`: the variables that point gcloud and Google's
 * Python SDK at the server. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/frame/server.h"
#include "hypertune/cli/frame/shell.h"
#include "proto/base/quote.h"
#include "proto/net/address.h"

/* The variables' values before the first gcloud-env of this shell. */
static const char record_name[] = "HYPERTUNE_GCLOUD_BEFORE";

/* A region that gcloud takes; it refuses "local" without asking any server. */
static const char default_region[] = "us-central1";

struct gcloud_env {
    struct cli *cli;
    struct shell_change before; /* by the record, if there is one */
    struct shell_change wanted;
    const char *url;        /* of the server, without a final slash */
    const char *token_file; /* absolute; NULL: the server needs no token */
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

/* ---- gcloud's folder of settings ---- */

enum { LINE_BYTES = 1024 };

/* gcloud asks the network again when its note is ten minutes old; this is
 * 2100. */
static const time_t far_future = 4102444800;

/* Without the blanks at both ends. */
static char *trim(char *text)
{
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    size_t len = strlen(text);
    while (len > 0 && strchr(blanks, text[len - 1]) != NULL)
        len--;
    text[len] = '\0';
    return text;
}

static const char *active_name(struct arena *arena, const char *folder)
{
    char line[LINE_BYTES] = "";
    FILE *file = fopen(arena_printf(arena, "%s/active_config", folder), "re");
    if (file != NULL && fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    const char *name = trim(line);
    return name[0] != '\0' ? arena_strdup(arena, name) : "default";
}

/* The value when a line "key = value" has that key; changes the line. */
static const char *value_of(char *line, const char *key)
{
    char *equals = strpbrk(line, "=:");
    if (equals == NULL)
        return NULL;
    *equals = '\0';
    return strcmp(trim(line), key) == 0 ? trim(equals + 1) : NULL;
}

/* A property such as {"core", "project"} in the configuration `name` (NULL: the
 * active one) of a folder of gcloud's; NULL: not set. */
static const char *read_setting(struct arena *arena, const char *folder,
                                const char *name, const char *section,
                                const char *key)
{
    if (name == NULL)
        name = active_name(arena, folder);
    if (strchr(name, '/') != NULL)
        return NULL;
    FILE *file = fopen(
        arena_printf(arena, "%s/configurations/config_%s", folder, name), "re");
    if (file == NULL)
        return NULL;
    const char *title = arena_printf(arena, "[%s]", section);
    const char *found = NULL;
    bool within = false;
    for (char buffer[LINE_BYTES]; fgets(buffer, sizeof buffer, file);) {
        char *line = trim(buffer);
        if (line[0] == '[')
            within = strcmp(line, title) == 0;
        const char *value = within ? value_of(line, key) : NULL;
        if (value != NULL && value[0] != '\0')
            found = arena_strdup(arena, value);
    }
    fclose(file);
    return found;
}

/* The note that this is no machine of Google's. It is written in place, never
 * emptied: a gcloud may be reading it. */
static enum ht_status write_note(const char *path, struct ht_error *err)
{
    static const char note[] = "False";
    const struct timespec times[2] = {{.tv_sec = far_future},
                                      {.tv_sec = far_future}};
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool done =
        fd >= 0 && write(fd, note, strlen(note)) == (ssize_t)strlen(note) &&
        ftruncate(fd, (off_t)strlen(note)) == 0 && futimens(fd, times) == 0;
    int cause = errno;
    if (fd >= 0)
        close(fd);
    return done ? HT_OK : ht_fail_errno(err, cause, "cannot write %s", path);
}

/* Makes the folder `gcloud` in the absolute folder `state`, both 0700, so that
 * gcloud neither looks for a metadata server nor meets the settings and
 * credentials of its user. May be done again at any time. */
static enum ht_status make_folder(struct arena *arena, const char *folder,
                                  struct ht_error *err)
{
    const enum ht_status status = cli_server_make_folder(arena, folder, err);
    return status == HT_OK
               ? write_note(arena_printf(arena, "%s/gce", folder), err)
               : status;
}

/* ---- project and region: of the command line, else of the person's gcloud */

static const char *person_setting(struct gcloud_env *env, const char *variable,
                                  const char *section, const char *key,
                                  const char *otherwise)
{
    struct arena *arena = env->cli->arena;
    const char *value = original_text(env, variable);
    const char *folder = original_text(env, "CLOUDSDK_CONFIG");
    const char *home = original_text(env, "HOME");
    if (folder == NULL && home != NULL)
        folder = arena_printf(arena, "%s/.config/gcloud", home);
    if (value == NULL && folder != NULL)
        value = read_setting(arena, folder,
                             original_text(env, "CLOUDSDK_ACTIVE_CONFIG_NAME"),
                             section, key);
    return value != NULL ? value : otherwise;
}

static void choose_names(struct gcloud_env *env)
{
    const struct cli_settings *set = &env->cli->set;
    env->project = set->project;
    env->region = set->region;
    if (env->project == NULL)
        env->project = person_setting(env, "CLOUDSDK_CORE_PROJECT", "core",
                                      "project", "local");
    if (env->region == NULL)
        env->region =
            person_setting(env, "CLOUDSDK_AI_REGION", "ai", "region",
                           person_setting(env, "CLOUDSDK_COMPUTE_REGION",
                                          "compute", "region", default_region));
}

/* ---- the variables ---- */

/* "127.0.0.1" of "http://127.0.0.1:8470". */
static const char *host_of(const struct gcloud_env *env)
{
    const char *host = strstr(env->url, "://");
    host = host != NULL ? host + 3 : env->url;
    size_t len = host[0] == '[' ? strcspn(++host, "]") : strcspn(host, ":/");
    return arena_strndup(env->cli->arena, host, len);
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
    if (!address_is_loopback(host))
        return;
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
        shell_set(&env->wanted, proxies[i], NULL);
    const char *list = original_text(env, names[0]);
    if (list == NULL)
        list = original_text(env, names[1]);
    if (list == NULL)
        list = host;
    else if (!list_has(list, host))
        list = arena_printf(env->cli->arena, "%s,%s", list, host);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        shell_set(&env->wanted, names[i], list);
}

static void want_all(struct gcloud_env *env, const char *folder)
{
    static const char polling[] = "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL";
    const char *url = arena_printf(env->cli->arena, "%s/", env->url);
    const char *interval = original_text(env, polling);
    const struct shell_variable all[] = {
        {"CLOUDSDK_CONFIG", folder},
        {"CLOUDSDK_CORE_PROJECT", env->project},
        {"CLOUDSDK_AI_REGION", env->region},
        {"CLOUDSDK_COMPUTE_REGION", env->region},
        /* Any other one gcloud puts into the host's name. */
        {"CLOUDSDK_AI_PLATFORM_REGION", "global"},
        {"GOOGLE_CLOUD_PROJECT", env->project},
        {"GOOGLE_CLOUD_REGION", env->region},
        /* Every API that gcloud's commands for jobs ask: what this server does
         * not have it refuses in words, and its token goes nowhere else. */
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", url},
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM", url},
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", url},
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", url},
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER", url},
        {"CLOUDSDK_API_ENDPOINT_OVERRIDES_SERVICEUSAGE", url},
        /* What chooses other credentials or another account. */
        {"CLOUDSDK_ACTIVE_CONFIG_NAME", NULL},
        {"CLOUDSDK_CORE_ACCOUNT", NULL},
        {"CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", NULL},
        {"CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT", NULL},
        {"CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", env->token_file},
        {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS",
         env->token_file == NULL ? "true" : NULL},
        {"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"},
        {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"},
        {"CLOUDSDK_SURVEY_DISABLE_PROMPTS", "true"},
        /* Without it gcloud asks for logs once a minute. */
        {polling, interval != NULL ? interval : "5"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        shell_set(&env->wanted, all[i].name, all[i].value);
    want_no_proxy(env);
}

/* ---- from the wanted variables to the change ---- */

/* Makes the change for the shell: variables of an earlier gcloud-env that are
 * no longer wanted, the wanted ones, and the record. */
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
    shell_set(change, record_name, text_take(&text, cli->arena));
}

/* The comment is last: a shell that evaluates all as one line skips the rest.
 */
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

static const char *quoted(const struct gcloud_env *env, const char *value)
{
    struct text text = {0};
    quote_json(&text, value);
    return text_take(&text, env->cli->arena);
}

/* The same for the Python SDK, which no variable leads here. */
static const char *python_lines(const struct gcloud_env *env)
{
    struct arena *arena = env->cli->arena;
    const bool open = env->token_file == NULL;
    return arena_printf(
        arena,
        "# from google.cloud import aiplatform; from google.%s\n"
        "# aiplatform.init(project=%s, location=%s, api_transport=\"rest\", "
        "api_endpoint=%s, credentials=%s)\n",
        open ? "auth.credentials import AnonymousCredentials"
             : "oauth2.credentials import Credentials",
        quoted(env, env->project), quoted(env, env->region),
        quoted(env, env->url),
        open ? "AnonymousCredentials()"
             : arena_printf(arena, "Credentials(open(%s).read().strip())",
                            quoted(env, env->token_file)));
}

/* ---- the server ---- */

/* Does it answer without any token? */
static bool is_open(struct cli *cli)
{
    struct cli_http_settings settings = {.url = cli_http_url(cli->http),
                                         .trust = *cli_http_trust(cli->http)};
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
    env->token_file = cli_real_path(cli->arena, cli->token_file);
    return CLI_DONE;
}

/* Makes the folder of gcloud's settings in that of our state; NULL after a
 * message. */
static const char *settings_folder(struct cli *cli)
{
    struct ht_error err;
    const char *state = cli_state_folder(cli);
    if (state == NULL) {
        cli_fail(cli, CLI_REFUSED,
                 "no folder for gcloud's settings: HOME is "
                 "not set\n  name one with HYPERTUNE_STATE");
        return NULL;
    }
    if (cli_server_make_folder(cli->arena, state, &err) == HT_OK) {
        const char *folder = arena_printf(cli->arena, "%s/gcloud",
                                          cli_real_path(cli->arena, state));
        if (make_folder(cli->arena, folder, &err) == HT_OK)
            return folder;
    }
    cli_fail(cli, CLI_REFUSED, "%s", err.text);
    return NULL;
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
        cli_say(cli,
                "warning: no runner runs images here, so jobs will wait; see "
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
    const char *folder = settings_folder(cli);
    if (folder == NULL)
        return CLI_REFUSED;
    int code = find_server(&env);
    if (code == CLI_DONE)
        code = cli_runners_ensure_images(cli, &has_images);
    if (code != CLI_DONE)
        return code;
    choose_names(&env);
    want_all(&env, folder);
    settle(&env, &change);
    advise(&env, has_images);
    return print_change(cli, &change, python_lines(&env));
}
