#include "hypertune/cli/frame/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/own_runner.h"
#include "hypertune/cli/frame/server.h"
#include "hypertune/cli/frame/shell.h"
#include "proto/base/token.h"
#include "proto/base/whole.h"
#include "proto/base/words.h"

enum {
    DEFAULT_WIDTH = 80,
    MAX_WIDTH = 10000,
    MAX_ANSWER_LINE = 256,
    ITEMS_A_PAGE = 200
};

void cli_init(struct cli *cli, char *const environment[])
{
    *cli = (struct cli){.lasting = arena_new(), .environment = environment};
    cli->arena = cli->lasting;
    for (const struct flag *o = cli_flags; o->name != NULL; o++)
        if (o->kind == FLAG_WHOLE || o->kind == FLAG_DURATION)
            *(int64_t *)(void *)((char *)&cli->set + o->offset) = CLI_UNSET;
    cli->in_tty = isatty(STDIN_FILENO) == 1;
    cli->out_tty = isatty(STDOUT_FILENO) == 1;
    cli->err_tty = isatty(STDERR_FILENO) == 1;
}

void cli_fini(struct cli *cli)
{
    cli_http_free(cli->http);
    arena_free(cli->lasting);
}

const char *cli_variable(const struct cli *cli, const char *name)
{
    const char *value = shell_value(cli->environment, name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static size_t terminal_width(const struct cli *cli)
{
    const char *columns = cli_variable(cli, "COLUMNS");
    long wanted = columns != NULL ? strtol(columns, NULL, 10) : 0;
    if (wanted > 0 && wanted <= MAX_WIDTH)
        return (size_t)wanted;
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return DEFAULT_WIDTH;
}

const char cli_formats[] = "table wide json jsonl yaml csv name args";

const char *cli_own_format(const struct cli *cli)
{
    bool own = cli->set.output != NULL && cli->command != NULL &&
               words_has(cli->command->formats, cli->set.output);
    return own ? cli->set.output : NULL;
}

static enum ht_status read_format(struct cli *cli, struct ht_error *err)
{
    const char *names[FORMAT_ARGS + 2] = {NULL};
    char *rest = arena_strdup(cli->arena, cli_formats);
    if (cli->set.output == NULL || cli_own_format(cli) != NULL)
        return HT_OK;
    for (size_t n = 0; n <= FORMAT_ARGS; n++) {
        names[n] = strsep(&rest, " ");
        if (strcmp(cli->set.output, names[n]) == 0) {
            cli->format = (enum cli_format)n;
            return HT_OK;
        }
    }
    const char *hint = words_hint(cli->arena, cli->set.output, names);
    const char *own = cli->command ? cli->command->formats : "";
    return hint[0] != '\0'
               ? ht_fail(err, HT_INVALID, "no output format \"%s\"%s",
                         cli->set.output, hint)
               : ht_fail(err, HT_INVALID,
                         "no output format \"%s\"; there are %s%s%s",
                         cli->set.output, cli_formats,
                         own[0] != '\0' ? " " : "", own);
}

enum ht_status cli_settle(struct cli *cli, struct ht_error *err)
{
    const char *term = cli_variable(cli, "TERM");
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    cli->color = cli->out_tty && !dumb && !cli->set.no_color &&
                 cli_variable(cli, "NO_COLOR") == NULL;
    cli->width = cli->out_tty ? terminal_width(cli) : 0;
    return read_format(cli, err);
}

bool cli_is_table(const struct cli *cli)
{
    return cli->format == FORMAT_TABLE || cli->format == FORMAT_WIDE;
}

static const char *turn(struct arena *arena, const char *word, int (*how)(int))
{
    char *turned = arena_strdup(arena, word);
    for (char *at = turned; *at != '\0'; at++)
        *at = (char)how((unsigned char)*at);
    return turned;
}

const char *cli_upper(struct arena *arena, const char *word)
{
    return turn(arena, word, toupper);
}

const char *cli_lower(struct arena *arena, const char *word)
{
    return turn(arena, word, tolower);
}

const char *cli_last_lines(const char *text, int lines)
{
    const char *start = text + strlen(text);
    for (; start > text; start--)
        if (start[-1] == '\n' && start[0] != '\0' && --lines == 0)
            break;
    return start;
}

char *cli_read_all(struct arena *arena, int fd, size_t most, size_t *len)
{
    struct text content = {0};
    char block[16384];
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 && content.len <= most) {
        do
            n = read(fd, block, sizeof block);
        while (n < 0 && errno == EINTR);
        if (n > 0)
            text_append(&content, block, (size_t)n);
    }
    const int cause = errno;
    if (fd > STDIN_FILENO)
        close(fd);
    *len = content.len;
    char *copy = text_take(&content, arena);
    errno = cause;
    return n < 0 ? NULL : copy;
}

const char *cli_real_path(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *kept = arena_strdup(arena, real != NULL ? real : path);
    free(real);
    return kept;
}

/* ---- messages ---- */

/* A message's line ends are ours, its other bytes may be foreign. */
static void say(const char *prefix, char *message)
{
    struct text out = {0};
    text_puts(&out, prefix);
    while (message != NULL && *message != '\0')
        text_print_safe(&out, "%s\n", strsep(&message, "\n"));
    fputs(text_string(&out), stderr);
    text_free(&out);
}

int cli_fail(struct cli *cli, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("hypertune: ", arena_vprintf(cli->arena, format, args));
    va_end(args);
    return code;
}

static int exit_of(enum ht_status status)
{
    static const int codes[] = {
        [HT_INVALID] = CLI_USAGE,           [HT_TOO_LARGE] = CLI_USAGE,
        [HT_HEADER_TOO_LARGE] = CLI_USAGE,  [HT_NOT_FOUND] = CLI_ABSENT,
        [HT_UNAUTHENTICATED] = CLI_DENIED,  [HT_DENIED] = CLI_DENIED,
        [HT_EXISTS] = CLI_CONFLICT,         [HT_CONFLICT] = CLI_CONFLICT,
        [HT_UNAVAILABLE] = CLI_UNREACHABLE, [HT_TIMEOUT] = CLI_OVERDUE};
    const size_t at = (size_t)status;
    return at < sizeof codes / sizeof *codes && codes[at] != 0 ? codes[at]
                                                               : CLI_REFUSED;
}

/* Advice for an error with one known cause. */
static const char *advice(const struct cli *cli, enum ht_status status)
{
    if (status == HT_UNAVAILABLE && cli->http != NULL &&
        !cli_http_has_answered(cli->http))
        return "\n  start a server with \"hypertune serve\", or name one with "
               "--server or HYPERTUNE_SERVER";
    if (status == HT_DENIED && cli->http != NULL &&
        !cli_http_has_answered(cli->http))
        return "\n  name the authority of its certificate with --ca FILE, or "
               "its key with --pin sha256//KEY (HYPERTUNE_CA, HYPERTUNE_PIN)";
    if (status == HT_UNAUTHENTICATED)
        return "\n  name the file of the server's token with --token-file or "
               "HYPERTUNE_TOKEN_FILE";
    return "";
}

int cli_fail_error(struct cli *cli, const struct ht_error *err)
{
    return cli_fail(cli, exit_of(err->status), "%s%s", err->text,
                    advice(cli, err->status));
}

void cli_say(const struct cli *cli, const char *format, ...)
{
    if (cli->set.quiet)
        return;
    va_list args;
    va_start(args, format);
    say("", arena_vprintf(cli->arena, format, args));
    va_end(args);
}

int cli_print_to(FILE *file, struct text *out)
{
    size_t written = out->len == 0 ? 0 : fwrite(out->data, 1, out->len, file);
    bool whole = written == out->len && fflush(file) == 0;
    int cause = errno;
    text_free(out);
    if (whole)
        return CLI_DONE;
    if (cause != EPIPE) /* the reader has ended: no fault */
        fprintf(stderr, "hypertune: cannot write to stdout: %s\n",
                strerror(cause));
    return CLI_REFUSED;
}

int cli_print_into(struct cli *cli, const char *path, struct text *out)
{
    const int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | (cli->set.force ? O_TRUNC : O_EXCL);
    const int fd = open(path, flags, 0644);
    if (fd < 0 && errno == EEXIST)
        return cli_fail(cli, CLI_CONFLICT,
                        "%s is there already; --force overwrites it", path);
    const bool whole = fd >= 0 && whole_write(fd, out->data, out->len);
    const int cause = errno;
    text_free(out);
    if ((fd >= 0 && close(fd) != 0) || !whole)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(cause));
    return CLI_DONE;
}

int cli_print(struct text *out)
{
    return cli_print_to(stdout, out);
}

bool cli_ask(const struct cli *cli, const char *question, const char *want)
{
    if (!cli->in_tty || !cli->err_tty)
        return false;
    struct text shown = {0};
    text_escape(&shown, question);
    fprintf(stderr, "%s ", shown.data);
    text_free(&shown);
    char line[MAX_ANSWER_LINE];
    if (fgets(line, sizeof line, stdin) == NULL)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return strcmp(line, want) == 0 ||
           (strcmp(want, "yes") == 0 && strcmp(line, "y") == 0);
}

const char *cli_where(struct cli *cli)
{
    const char *option = cli->set.data != NULL ? "data" : "server";
    const char *value = cli->set.data ? cli->set.data : cli->set.server;
    struct text where = {0};
    if (value == NULL)
        return "";
    text_printf(&where, " --%s ", option);
    text_shell_word(&where, value);
    return text_take(&where, cli->arena);
}

static void add_word(const char *word, struct text *out)
{
    text_puts(out, " ");
    text_shell_word(out, word);
}

const char *cli_again(struct cli *cli, const char *options)
{
    struct text out = {0};
    bool rest = false; /* behind "--" */
    const bool renames = strncmp(options, "--name", 6) == 0;
    text_puts(&out, "hypertune");
    for (int i = 0; i < cli->used; i++)
        add_word(cli->argv[i], &out);
    text_printf(&out, " %s", options);
    for (int i = cli->used; i < cli->argc; i++) {
        const char *word = cli->argv[i];
        rest = rest || strcmp(word, "--") == 0;
        const bool name = renames && strncmp(word, "--name", 6) == 0;
        if (rest || (!name && !words_has("--continue --replace --yes", word)))
            add_word(word, &out);
        i += name && !rest && word[6] == '\0';
    }
    return text_take(&out, cli->arena);
}

/* ---- the connection ---- */

static enum ht_status read_token(struct cli *cli, const char *path,
                                 const char **token, struct ht_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        ht_fail_errno(err, errno, "cannot read the token file %s", path);
        return ht_wrap(err, HT_DENIED, "not allowed");
    }
    if ((info.st_mode & 077) != 0)
        cli_say(cli, "warning: %s is open to others; chmod 600 %s", path, path);
    char line[TOKEN_TEXT_BYTES + 8] = ""; /* a named one begins with "ht_a_" */
    ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    line[n > 0 ? n : 0] = '\0';
    line[strspn(line, "0123456789abcdefABCDEF_hjnrst")] = '\0';
    if (line[0] == '\0')
        return ht_fail(err, HT_DENIED, "%s holds no token", path);
    *token = arena_strdup(cli->lasting, line);
    return HT_OK;
}

struct trust cli_named_trust(const struct cli *cli)
{
    const char *insecure = cli_variable(cli, "HYPERTUNE_INSECURE");
    return (struct trust){
        .ca = cli->set.ca ? cli->set.ca : cli_variable(cli, "HYPERTUNE_CA"),
        .pin = cli->set.pin ? cli->set.pin : cli_variable(cli, "HYPERTUNE_PIN"),
        .cert =
            cli->set.cert ? cli->set.cert : cli_variable(cli, "HYPERTUNE_CERT"),
        .key = cli->set.key ? cli->set.key : cli_variable(cli, "HYPERTUNE_KEY"),
        .insecure = cli->set.insecure ||
                    (insecure != NULL && strcmp(insecure, "1") == 0)};
}

static enum ht_status use_server(struct cli *cli, const char *url,
                                 const char *token_file, struct ht_error *err)
{
    const char *token = NULL;
    const struct trust trust = cli_named_trust(cli);
    enum ht_status status = trust_check(&trust, url, token_file != NULL, err);
    if (status == HT_OK && token_file != NULL)
        status = read_token(cli, token_file, &token, err);
    if (status != HT_OK)
        return status;
    cli->token_file = token_file;
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    struct cli_http_settings settings = {
        .url = arena_strndup(cli->lasting, url, len),
        .token = token,
        .timeout_ms = cli->request_ms,
        .trust = trust};
    cli_http_free(cli->http);
    cli->http = cli_http_new(&settings);
    return HT_OK;
}

const char *cli_state_folder(struct cli *cli)
{
    if (cli->set.data != NULL)
        return cli->set.data;
    struct cli_server_variables variables = {
        .own = cli_variable(cli, "HYPERTUNE_STATE"),
        .state = cli_variable(cli, "XDG_STATE_HOME"),
        .home = cli_variable(cli, "HOME")};
    return cli_server_state_folder(cli->lasting, &variables);
}

/* `log` gets the last lines of a server that did not start. */
static enum ht_status connect_own(struct cli *cli, const char *token_file,
                                  struct text *log, struct ht_error *err)
{
    struct cli_server_info info;
    bool started;
    cli->state_folder = cli_state_folder(cli);
    if (cli->state_folder == NULL)
        return ht_fail(err, HT_UNAVAILABLE,
                       "no folder for a server: HOME is not set\n"
                       "  name one with HYPERTUNE_STATE, or a server with "
                       "--server or HYPERTUNE_SERVER");
    if (cli_server_ensure(cli->lasting, cli->state_folder, &info, &started, log,
                          err) != HT_OK)
        return err->status = HT_UNAVAILABLE;
    if (started && cli->set.verbose)
        cli_say(cli, "started a server at %s, data in %s", info.url,
                cli->state_folder);
    cli->server_pid = info.pid;
    own_runner_restart_all(cli, cli->state_folder, info.url);
    return use_server(cli, info.url, token_file ? token_file : info.token_file,
                      err);
}

static const char *named_token_file(const struct cli *cli)
{
    return cli->set.token_file ? cli->set.token_file
                               : cli_variable(cli, "HYPERTUNE_TOKEN_FILE");
}

const char *cli_named_server(const struct cli *cli)
{
    if (cli->set.server != NULL || cli->set.data != NULL)
        return cli->set.server;
    return cli_variable(cli, "HYPERTUNE_SERVER");
}

static enum ht_status reconnect(struct cli *cli, struct text *log,
                                struct ht_error *err)
{
    const char *url = cli_named_server(cli);
    cli->detached = url != NULL;
    return cli->detached ? use_server(cli, url, named_token_file(cli), err)
                         : connect_own(cli, named_token_file(cli), log, err);
}

int cli_connect(struct cli *cli)
{
    struct ht_error err;
    struct text log = {0};
    if (cli->http != NULL || reconnect(cli, &log, &err) == HT_OK)
        return CLI_DONE;
    int code = cli_fail_error(cli, &err);
    fputs(text_string(&log), stderr);
    text_free(&log);
    return code;
}

bool cli_connect_silently(struct cli *cli, int64_t timeout_ms)
{
    struct cli_server_info info = {.url = cli_named_server(cli)};
    cli->set.quiet = true;
    cli->detached = true;
    cli->request_ms = timeout_ms;
    if (cli->http != NULL)
        return true;
    const char *folder = info.url == NULL ? cli_state_folder(cli) : NULL;
    if (info.url == NULL &&
        (folder == NULL ||
         cli_server_find(cli->lasting, folder, &info, NULL) != HT_OK))
        return false;
    const char *token = named_token_file(cli);
    return use_server(cli, info.url, token != NULL ? token : info.token_file,
                      NULL) == HT_OK;
}

/* After our own server has died another user's may have its port: that one
 * must not get our token. */
static bool is_server_the_same(struct cli *cli)
{
    struct cli_server_info info;
    return cli->detached || (cli_server_find(cli->arena, cli->state_folder,
                                             &info, NULL) == HT_OK &&
                             info.pid == cli->server_pid);
}

/* Asks again when our own server has died: a repeated change is safe, the
 * second answer reports that it is done. */
enum ht_status cli_call(struct cli *cli, const char *method, const char *path,
                        const char *body, struct cli_http_answer *answer,
                        struct ht_error *err)
{
    struct cli_http_request request = {method, path, body};
    for (bool again = false;; again = true) {
        struct text log = {0};
        enum ht_status status =
            is_server_the_same(cli) ? HT_OK : reconnect(cli, &log, err);
        text_free(&log);
        if (status == HT_OK)
            status =
                cli_http_call(cli->http, cli->arena, &request, answer, err);
        if (status == HT_OK || again || is_server_the_same(cli))
            return status;
    }
}

/* ---- reading answers ---- */

enum ht_status cli_get(struct cli *cli, const char *path,
                       const struct node **root, struct ht_error *err)
{
    struct cli_http_answer answer;
    enum ht_status status = cli_call(cli, "GET", path, NULL, &answer, err);
    if (status == HT_OK)
        *root = answer.root;
    return status;
}

const char *cli_query(struct cli *cli, const char *path, const char *name,
                      const char *value)
{
    return value == NULL
               ? path
               : arena_printf(cli->arena, "%s%c%s=%s", path,
                              strchr(path, '?') != NULL ? '&' : '?', name,
                              cli_http_segment(cli->arena, value));
}

const char *cli_scalar(const struct node *node)
{
    return node != NULL && node->text != NULL ? node->text : "";
}

void cli_scalars(const struct node *list, struct text *out)
{
    NODE_EACH (item, node_items(list)) {
        text_print_safe(out, "%s%s", item == list->first ? "" : ",",
                        cli_scalar(item));
    }
}

/* Visits one page; *token is where the next one begins, "" for none. */
static enum ht_status visit_page(struct cli *cli, const struct cli_pages *pages,
                                 cli_visitor *visit, void *context,
                                 struct text *token, struct ht_error *err)
{
    const struct node *root;
    const int size = pages->size > 0 ? pages->size : ITEMS_A_PAGE;
    const char *path = cli_query(cli, pages->path, "pageSize",
                                 arena_printf(cli->arena, "%d", size));
    path =
        cli_query(cli, path, "pageToken", token->len > 0 ? token->data : NULL);
    enum ht_status status = cli_get(cli, path, &root, err);
    text_clear(token);
    if (status != HT_OK)
        return status;
    NODE_EACH (item, node_first(root, pages->key)) {
        if (!visit(item, context))
            return HT_OK;
    }
    text_puts(token, node_get_string(root, "nextPageToken", ""));
    return HT_OK;
}

enum ht_status cli_pages_each(struct cli *cli, const struct cli_pages *pages,
                              cli_visitor *visit, void *context,
                              struct ht_error *err)
{
    struct arena *outer = cli->arena;
    struct arena *own = pages->keep ? NULL : arena_new();
    struct text token = {0};
    enum ht_status status;
    if (own != NULL)
        cli->arena = own;
    do {
        if (own != NULL)
            arena_reset(own);
        status = visit_page(cli, pages, visit, context, &token, err);
    } while (status == HT_OK && token.len > 0);
    cli->arena = outer;
    arena_free(own);
    text_free(&token);
    return status;
}
