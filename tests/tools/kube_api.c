/* kube_api.c - the room runner/kubernetes from the command line.
 *
 *     kube_api [context=NAME] [namespace=NAME] [account=FOLDER]
 *     kube_api [...] [until=BYTES] exec POD CONTAINER COMMAND...
 *
 * The second runs a command in a container, copies its stdin and stdout, until
 * so many bytes came where BYTES are said, and at its end writes "CODE WORDS"
 * to stderr, or "!" and a failure. The first one finds its cluster as a runner
 * does, and reads orders, one a line, from stdin:
 *
 *     config
 *     create KIND JSON | dry KIND JSON | get KIND NAME
 *     patch KIND NAME JSON
 *     delete KIND NAME UID|- GRACE Background|Foreground|Orphan
 *     list KIND SELECTOR|- PAGE
 *     watch KIND SELECTOR|- TIMEOUT-S EVENTS
 *     fields | access | maps SHIM
 *
 * JSON has no blanks. The answer is lines of words and then "ok", or "!" with
 * the google.rpc name of a failure and its words. */

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "runner/kubernetes/access.h"
#include "runner/kubernetes/fields.h"
#include "runner/kubernetes/objects.h"
#include "runner/kubernetes/pipe.h"
#include "runner/kubernetes/watch.h"
#include "runner/pods/shim_maps.h"

enum { MOST_WORDS = 8 };

struct shell {
    struct kube_config config;
    struct kube *kube;
    char *words[MOST_WORDS];
    int n;
    int events_left;
};

static const struct kube_kind *kind_of(const char *plural)
{
    static const struct kube_kind *const all[] = {
        &kube_jobs,        &kube_pods,    &kube_services,
        &kube_config_maps, &kube_secrets, NULL};
    size_t i = 0;
    while (all[i] != NULL && strcmp(all[i]->plural, plural) != 0)
        i++;
    return all[i] != NULL ? all[i] : &kube_jobs;
}

static const char *or_null(const char *word)
{
    return strcmp(word, "-") != 0 ? word : NULL;
}

static void print_object(const char *word, const struct node *object)
{
    const struct node *meta = node_find(object, "metadata");
    printf("%s %s %s %s\n", word, node_get_string(meta, "name", "-"),
           node_get_string(meta, "uid", "-"),
           node_get_string(meta, "resourceVersion", "-"));
    (void)fflush(stdout);
}

static bool print_item(void *context, const struct node *item)
{
    (void)context;
    print_object("item", item);
    return true;
}

static bool print_change(void *context, const struct kube_change *change)
{
    static const char *const names[] = {
        "LISTING", "ITEM", "LISTED", "ADDED", "MODIFIED", "DELETED", "TROUBLE"};
    struct shell *shell = context;
    if (change->object != NULL)
        print_object(names[change->event], change->object);
    else
        printf("%s %s\n", names[change->event],
               change->trouble != NULL ? change->trouble->text : "");
    (void)fflush(stdout);
    return --shell->events_left > 0;
}

static void print_config(const struct kube_config *config)
{
    printf("context %s\nserver %s\nnamespace %s\n",
           config->context != NULL ? config->context : "-", config->server,
           config->namespace);
}

static enum ht_status print_fields(struct kube *kube, struct ht_error *err)
{
    struct kube_fields fields;
    const enum ht_status status = kube_fields_ask(kube, &fields, err);
    if (status != HT_OK)
        return status;
    printf("%d.%d %s", fields.major, fields.minor,
           fields.by_schema ? "schema" : "version");
    for (int i = 0; i < KUBE_FIELDS; i++) {
        if (fields.has[i])
            printf(" %s", kube_field_name((enum kube_field)i));
    }
    printf("\n");
    return HT_OK;
}

static enum ht_status print_access(struct shell *shell, struct arena *arena,
                                   struct ht_error *err)
{
    struct kube_rights missing;
    struct kube_fields fields;
    const char *namespace = shell->config.namespace;
    enum ht_status status = kube_fields_ask(shell->kube, &fields, err);
    if (status != HT_OK)
        return status;
    const struct kube_place place = {.namespace = namespace,
                                     .job_sets = fields.job_sets,
                                     .workloads = fields.workloads};
    status = kube_access_ask(shell->kube, &place, arena, &missing, err);
    if (status == HT_OK)
        printf("%zu\n%s", missing.n,
               missing.n > 0 ? kube_access_role(arena, namespace, &missing)
                             : "");
    return status;
}

/* Their names, and the volume. */
static enum ht_status ensure_maps(struct shell *shell, struct arena *arena,
                                  struct ht_error *err)
{
    struct shim_maps maps;
    struct text volume = {0};
    const enum ht_status status =
        shim_maps_ensure(shell->kube, shell->config.namespace, shell->words[1],
                         arena, &maps, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < maps.n; i++)
        printf("%s\n", maps.names[i]);
    shim_maps_put_volume(&volume, &maps);
    printf("%s\n", text_string(&volume));
    text_free(&volume);
    return HT_OK;
}

static enum ht_status list(struct shell *shell, struct arena *arena,
                           struct ht_error *err)
{
    const char *version;
    const struct kube_list all = {.kind = kind_of(shell->words[1]),
                                  .namespace = shell->config.namespace,
                                  .selector = or_null(shell->words[2]),
                                  .page =
                                      (int)strtol(shell->words[3], NULL, 10),
                                  .each = print_item};
    const enum ht_status status =
        kube_list(shell->kube, &all, arena, &version, err);
    if (status == HT_OK)
        printf("version %s\n", version);
    return status;
}

static void watch(struct shell *shell)
{
    const struct kube_watch all = {.kind = kind_of(shell->words[1]),
                                   .namespace = shell->config.namespace,
                                   .selector = or_null(shell->words[2]),
                                   .timeout_s =
                                       (int)strtol(shell->words[3], NULL, 10),
                                   .page = 2,
                                   .take = print_change,
                                   .context = shell};
    shell->events_left = (int)strtol(shell->words[4], NULL, 10);
    kube_watch_run(shell->kube, &all);
}

static enum ht_status remove_object(struct shell *shell,
                                    const struct kube_object *object,
                                    struct ht_error *err)
{
    const struct kube_delete how = {
        .uid = or_null(shell->words[3]),
        .grace_s = (int)strtol(shell->words[4], NULL, 10),
        .orphans = strcmp(shell->words[5], "Orphan") == 0,
        .waits = strcmp(shell->words[5], "Foreground") == 0};
    return kube_remove(shell->kube, object, &how, err);
}

/* An order about one object. */
static enum ht_status order_object(struct shell *shell, struct arena *arena,
                                   struct ht_error *err)
{
    char **words = shell->words;
    const struct kube_object object = {.kind = kind_of(words[1]),
                                       .namespace = shell->config.namespace,
                                       .name = words[2]};
    const struct node *answer = NULL;
    enum ht_status status;
    const bool dry = strcmp(words[0], "dry") == 0;
    if (strcmp(words[0], "delete") == 0 && shell->n == 6)
        return remove_object(shell, &object, err);
    if (dry || strcmp(words[0], "create") == 0)
        status =
            kube_create(shell->kube,
                        &(struct kube_creation){.kind = object.kind,
                                                .namespace = object.namespace,
                                                .json = words[2],
                                                .dry = dry},
                        arena, &answer, err);
    else if (strcmp(words[0], "patch") == 0 && shell->n == 4)
        status =
            kube_patch(shell->kube, &object, words[3], arena, &answer, err);
    else
        status = kube_get(shell->kube, &object, arena, &answer, err);
    if (status == HT_OK)
        print_object("object", answer);
    return status;
}

static enum ht_status order(struct shell *shell, struct arena *arena,
                            struct ht_error *err)
{
    const char *verb = shell->words[0];
    enum ht_status status = HT_OK;
    if (strcmp(verb, "config") == 0)
        print_config(&shell->config);
    else if (strcmp(verb, "fields") == 0)
        status = print_fields(shell->kube, err);
    else if (strcmp(verb, "access") == 0)
        status = print_access(shell, arena, err);
    else if (strcmp(verb, "maps") == 0 && shell->n == 2)
        status = ensure_maps(shell, arena, err);
    else if (strcmp(verb, "list") == 0 && shell->n == 4)
        status = list(shell, arena, err);
    else if (strcmp(verb, "watch") == 0 && shell->n == 5)
        watch(shell);
    else if (shell->n >= 3)
        status = order_object(shell, arena, err);
    else
        status = ht_fail(err, HT_NO_METHOD, "no such order: %s", verb);
    return status;
}

static void read_orders(struct shell *shell)
{
    char *line = NULL, *rest;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        struct arena *arena = arena_new();
        struct ht_error err;
        shell->n = 0;
        for (char *word = strtok_r(line, " \n", &rest);
             word != NULL && shell->n < MOST_WORDS;
             word = strtok_r(NULL, " \n", &rest))
            shell->words[shell->n++] = word;
        if (shell->n > 0 && order(shell, arena, &err) == HT_OK)
            printf("ok\n");
        else if (shell->n > 0)
            printf("! %s %s\n", ht_status_rpc(err.status), err.text);
        (void)fflush(stdout);
        arena_free(arena);
    }
    free(line);
}

/* ---- exec ---- */

struct copy {
    struct kube_pipe *pipe;
    char bytes[100 * 1000]; /* of stdin, from `at` on not written yet */
    size_t at, len;
    bool closed;    /* stdin has ended */
    long long left; /* bytes of stdout that are wanted */
};

static void copy_in(struct copy *copy)
{
    const ssize_t n = kube_pipe_write(copy->pipe, copy->bytes + copy->at,
                                      copy->len - copy->at);
    copy->at += n > 0 ? (size_t)n : 0;
    if (copy->at < copy->len || copy->closed || kube_pipe_is_full(copy->pipe))
        return;
    const ssize_t got = read(STDIN_FILENO, copy->bytes, sizeof copy->bytes);
    copy->closed = got <= 0;
    copy->at = 0;
    copy->len = got > 0 ? (size_t)got : 0;
}

/* False: it has ended, or so much came as was wanted. */
static bool copy_out(struct copy *copy)
{
    char bytes[5000];
    ssize_t n = 0;
    while (copy->left > 0 &&
           (n = kube_pipe_read(copy->pipe, bytes, sizeof bytes)) > 0) {
        copy->left -= n;
        for (ssize_t at = 0; at < n;) {
            const ssize_t put =
                write(STDOUT_FILENO, bytes + at, (size_t)(n - at));
            if (put < 0)
                return false;
            at += put;
        }
    }
    return copy->left > 0 && n != 0;
}

static void copy_until_end(struct copy *copy)
{
    while (copy_out(copy)) {
        const bool waits =
            copy->at < copy->len || kube_pipe_is_full(copy->pipe);
        struct pollfd all[] = {
            {.fd = kube_pipe_fd(copy->pipe),
             .events = (short)(POLLIN | (waits ? POLLOUT : 0))},
            {.fd = waits || copy->closed ? -1 : STDIN_FILENO,
             .events = POLLIN}};
        (void)poll(all, 2, -1);
        if (waits || all[1].revents != 0)
            copy_in(copy);
    }
}

static int exec(struct shell *shell, char **words, long long until)
{
    struct ht_error err;
    struct copy copy = {.left = until};
    const struct kube_command command = {
        .namespace = shell->config.namespace,
        .pod = words[0],
        .container = words[1],
        .argv = (const char *const *)(void *)(words + 2)};
    if (kube_pipe_open(shell->kube, &command, &copy.pipe, &err) != HT_OK) {
        (void)fprintf(stderr, "! %s %s\n", ht_status_rpc(err.status), err.text);
        return 1;
    }
    copy_until_end(&copy);
    const char *said;
    const int code = kube_pipe_result(copy.pipe, &said);
    (void)fprintf(stderr, "%d %s\n", code, said);
    kube_pipe_close(copy.pipe);
    return 0;
}

int main(int argc, char **argv)
{
    struct ht_error err;
    struct shell shell = {.n = 0};
    struct kube_config_wish wish = {.lookup = getenv};
    struct arena *arena = arena_new();
    long long until = LLONG_MAX;
    char **run = NULL;
    for (int i = 1; i < argc && run == NULL; i++) {
        if (strncmp(argv[i], "context=", 8) == 0)
            wish.context = argv[i] + 8;
        else if (strncmp(argv[i], "namespace=", 10) == 0)
            wish.namespace = argv[i] + 10;
        else if (strncmp(argv[i], "account=", 8) == 0)
            wish.account = argv[i] + 8;
        else if (strncmp(argv[i], "until=", 6) == 0)
            until = strtoll(argv[i] + 6, NULL, 10);
        else if (strcmp(argv[i], "exec") == 0 && argc - i > 3)
            run = argv + i + 1;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    enum ht_status status = kube_config_find(&wish, arena, &shell.config, &err);
    int code = status == HT_OK ? 0 : 1;
    if (status == HT_OK) {
        shell.kube = kube_new(&shell.config);
        if (run != NULL)
            code = exec(&shell, run, until);
        else
            read_orders(&shell);
        kube_free(shell.kube);
    } else {
        printf("! %s %s\n", ht_status_rpc(status), err.text);
    }
    arena_free(arena);
    curl_global_cleanup();
    return code;
}
