/* cli.h - one invocation of `hypertune`: its arguments, the server, and output
 * and messages.
 *
 * A command gets this struct and returns an exit code; it prints data on
 * stdout and everything else on stderr. */
#ifndef HT_HYPERTUNE_CLI_FRAME_CLI_H
#define HT_HYPERTUNE_CLI_FRAME_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "hypertune/cli/frame/http.h"
#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/flags.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

/* The exit codes that scripts may rely on. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_REFUSED = 1,     /* the server refused, or an internal error */
    CLI_USAGE = 2,       /* usage, or an invalid spec */
    CLI_ABSENT = 3,      /* not found, or nothing there yet */
    CLI_DENIED = 4,      /* token */
    CLI_CONFLICT = 5,    /* the name is taken by another spec */
    CLI_UNREACHABLE = 6, /* no server */
    CLI_FAILED = 7,      /* study or trial failed */
    CLI_OVERDUE = 8,     /* --timeout passed */
    CLI_NOT_OVER = 9,    /* describe -o line: the study has not ended */
    CLI_NO_START = 125,  /* local-run: it was not started */
    CLI_INTERRUPTED = 130,
    CLI_TERMINATED = 143
};

enum cli_format {
    FORMAT_TABLE,
    FORMAT_WIDE,
    FORMAT_JSON,
    FORMAT_JSONL,
    FORMAT_YAML,
    FORMAT_CSV,
    FORMAT_NAME,
    FORMAT_ARGS
};
extern const char cli_formats[]; /* their names in this order, by blanks */

/* Every option of every command; commands.c has the table. Numbers that
 * were not given are CLI_UNSET. */
#define CLI_UNSET (-1)
struct cli_settings {
    const char *server, *token_file, *data, *output, *ca, *pin;
    const char *cert, *key;
    bool insecure, quiet, verbose, no_color, yes, help, version;
    int64_t timeout_ms;
    /* submit, run, check, set, clone */
    const char *name, *maximize, *minimize, *algorithm, *seed, *image;
    struct words params, until, env, warm_start, metrics;
    int64_t trials, parallel, retries, max_failed, trial_timeout_ms;
    bool wait, dry_run, resume, replace, if_not_exists, smoke, full, force;
    const char *stop_rule, *noise, *slurm_defaults, *slurm_ssh;
    const char *kube_config, *kube_context, *kube_namespace;
    struct words constraints, no_constraints, safety;
    /* lists */
    const char *state, *sort, *where, *tag;
    int64_t limit;
    /* logs */
    const char *stream, *replica;
    int64_t attempt, tail;
    bool follow, raw;
    /* add, retry, curves, export */
    const char *file, *out;
    const char *metric; /* the last of metrics */
    bool failed;
    /* confirm, replay */
    int64_t top, seeds, count;
    const char *from;
    /* local-run */
    const char *memory;
    struct words volumes;
    int64_t gpus;
    bool keep;
    bool all, diff;
    /* tag */
    struct words remove;
    /* import; submit */
    bool submit, no_code;
    /* clone, best */
    bool fresh, within;
    /* ui; runners; kubernetes */
    bool no_open, move, monitor;
    /* audit */
    const char *since, *who, *of_study;
    /* token */
    const char *role, *expire, *grace;
    /* tls, unseal */
    struct words hosts;
    const char *key_file;
    /* backup */
    const char *to;
    /* gcloud-env */
    const char *project, *region;
    bool unset;
    /* fetch */
    bool checkpoint;
    /* kubernetes */
    const char *namespace, *storage, *storage_class, *ingress, *tls_secret;
    const char *kustomize;
    struct words peers;
};

struct cli_command;

/* One for the whole program; one thread. */
struct cli {
    struct arena *lasting; /* as long as the program */
    struct arena *arena;   /* the same, or that of one round of a long watch */
    char *const *environment;
    const struct cli_command *command;
    struct cli_settings set;
    struct flags_result args;
    char *const *argv; /* of cli_main() */
    int argc, used;    /* the options before the command, and it, are `used` */
    enum cli_format format;
    bool in_tty, out_tty, err_tty, color;
    size_t width;             /* columns of stdout, 0: not a terminal */
    struct cli_http *http;    /* NULL until cli_connect() */
    int64_t request_ms;       /* longest request, 0: the usual */
    const char *state_folder; /* of this user's own server, or NULL */
    pid_t server_pid;         /* that server, as it was found */
    const char *token_file;   /* that cli_connect() took, or NULL */
    bool detached;            /* the server was named, so never started */
};

/* Fills `cli` from the environment; every number unset. */
void cli_init(struct cli *cli, char *const environment[]);
/* Closes the connection and frees cli->lasting; every pointer that a command
 * got from there ends here. */
void cli_fini(struct cli *cli);
/* Derives format, colour and width from the global options.
 * HT_INVALID  the format is unknown */
enum ht_status cli_settle(struct cli *cli, struct ht_error *err);

/* The -o when it is a format of this command alone; else NULL. */
const char *cli_own_format(const struct cli *cli);

/* Does a person read the output as a table: -o table or -o wide? */
bool cli_is_table(const struct cli *cli);

/* A variable of the environment, NULL when absent or empty. */
const char *cli_variable(const struct cli *cli, const char *name);

/* The server that was named; NULL: it is this user's own one. */
const char *cli_named_server(const struct cli *cli);
/* By flags and variables. */
struct trust cli_named_trust(const struct cli *cli);
/* Folder of this user's own server, which may not exist; NULL: no variable
 * names it. */
const char *cli_state_folder(struct cli *cli);

/* All studies of the server, whatever their project, location and kind. */
#define CLI_OURS "/hypertune/v1/studies"

/* Makes cli->http ready: the named server, or this user's own one, which is
 * started when it does not run. Returns CLI_DONE, or another exit code
 * after a message. */
int cli_connect(struct cli *cli);
/* The same for a shell that completes a word: without messages, and no server
 * is started; a request may take `timeout_ms`. False: there is no server. */
bool cli_connect_silently(struct cli *cli, int64_t timeout_ms);
/* One request to the server that cli_connect() found; the answer is in
 * cli->arena. When this user's own server died in between, it is started again
 * once and asked again. Errors are those of cli_http_call(). */
enum ht_status cli_call(struct cli *cli, const char *method, const char *path,
                        const char *body, struct cli_http_answer *answer,
                        struct ht_error *err);

/* A GET of it; *root is the JSON of the answer. */
enum ht_status cli_get(struct cli *cli, const char *path,
                       const struct node **root, struct ht_error *err);
/* The path with one more parameter; the path itself when `value` is NULL. */
const char *cli_query(struct cli *cli, const char *path, const char *name,
                      const char *value);

/* Lists come in pages; each is released before the next one is asked for
 * unless it is kept. */
struct cli_pages {
    const char *path; /* of the list, with its filter when it has one */
    const char *key;  /* of the list in the answer */
    int size;         /* items a page, 0: as many as are wise */
    bool keep;        /* visited items stay in cli->arena */
};
/* Calls `visit` for each item until it returns false; then no page is asked
 * for any more. Items are valid during the call, longer only with `keep`.
 * After a failure between two pages some items have been visited. */
typedef bool cli_visitor(const struct node *item, void *context);
enum ht_status cli_pages_each(struct cli *cli, const struct cli_pages *pages,
                              cli_visitor *visit, void *context,
                              struct ht_error *err);

/* A scalar's text; "" for null and absent. */
const char *cli_scalar(const struct node *node);
/* Appends the scalars of a list, escaped and apart by commas. */
void cli_scalars(const struct node *list, struct text *out);

/* All that `fd` has, or somewhat more than `most` bytes of it, in the arena. A
 * descriptor other than stdin is closed. NULL with errno when it cannot be read
 * or is negative. */
char *cli_read_all(struct arena *arena, int fd, size_t most, size_t *len);
/* The path without links; the path itself when there is no such file. */
const char *cli_real_path(struct arena *arena, const char *path);

/* Where the last so many lines begin, of a text that ends with or without the
 * end of one. */
const char *cli_last_lines(const char *text, int lines);
/* A copy in capitals, or without any. */
const char *cli_upper(struct arena *arena, const char *word);
/* ASCII letters alone. */
const char *cli_lower(struct arena *arena, const char *word);

/* Prints "hypertune: ..." to stderr, foreign bytes escaped; returns `code`. */
__attribute__((format(printf, 3, 4))) int cli_fail(struct cli *cli, int code,
                                                   const char *format, ...);
/* The same for an error; the code follows from its status. */
int cli_fail_error(struct cli *cli, const struct ht_error *err);
/* Prints to stderr unless --quiet, foreign bytes escaped. */
__attribute__((format(printf, 2, 3))) void cli_say(const struct cli *cli,
                                                   const char *format, ...);
/* Writes the text to stdout and releases it; CLI_DONE, or CLI_REFUSED when
 * stdout is closed or full. */
int cli_print(struct text *out);
/* The same to stdout or stderr. */
int cli_print_to(FILE *file, struct text *out);
/* The same to a new file, or with --force over one that is there; CLI_CONFLICT
 * where there is one. */
int cli_print_into(struct cli *cli, const char *path, struct text *out);

/* Asks on the terminal; true when the answer equals `want` ("yes" also takes
 * y). False when there is no terminal or the answer is another. */
bool cli_ask(const struct cli *cli, const char *question, const char *want);

/* The option that a command shown as advice needs to reach the same server: "",
 * " --data DIR" or " --server URL". */
const char *cli_where(struct cli *cli);

/* The command as it was typed, to be typed again with `options` in the place of
 * --continue, --replace and --yes, and of --name when they begin with it. */
const char *cli_again(struct cli *cli, const char *options);

#endif
