#include "hypertune/cli/transfer/export_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/doc/json.h"

enum { EVENTS_PAGE = 1000 };

/* Writes the text, which is released. */
static int write_text(struct cli *cli, const char *folder, const char *name,
                      struct text *content)
{
    const char *path = arena_printf(cli->arena, "%s/%s", folder, name);
    FILE *file = fopen(path, "wxe");
    bool whole = file != NULL &&
                 fwrite(content->data, 1, content->len, file) == content->len;
    whole = file != NULL && fclose(file) == 0 && whole;
    const int cause = errno;
    text_free(content);
    return whole ? CLI_DONE
                 : cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                            strerror(cause));
}

static const char *below(struct cli *cli, const struct cli_study *study,
                         const char *rest)
{
    return arena_printf(cli->arena, CLI_OURS "/%s%s",
                        cli_http_segment(cli->arena, study->id), rest);
}

static int write_spec(struct cli *cli, const struct cli_study *study,
                      const char *folder)
{
    struct cli_http_answer answer;
    struct ht_error err;
    if (study->home->kind == JOB_STUDY)
        return CLI_DONE; /* its clients run the trials: nothing to submit */
    if (cli_call(cli, "GET", below(cli, study, "/spec?form=native"), NULL,
                 &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    struct text content = {0};
    text_puts(&content, node_get_string(answer.root, "yaml", ""));
    return write_text(cli, folder, EXPORT_SPEC, &content);
}

static int write_study(struct cli *cli, const struct cli_study *study,
                       const char *folder)
{
    struct text content = {0};
    json_print_pretty(json_of_node(study->job), &content);
    text_puts(&content, "\n");
    return write_text(cli, folder, EXPORT_STUDY, &content);
}

static int write_events(struct cli *cli, const struct cli_study *study,
                        const char *folder)
{
    struct text content = {0};
    int64_t since = 0;
    size_t n = EVENTS_PAGE;
    text_puts(&content, "");
    while (n == EVENTS_PAGE) {
        struct cli_http_answer answer;
        struct ht_error err;
        const char *path = arena_printf(cli->arena, "%s?since=%lld&limit=%d",
                                        below(cli, study, "/events"),
                                        (long long)since, EVENTS_PAGE);
        if (cli_call(cli, "GET", path, NULL, &answer, &err) != HT_OK) {
            text_free(&content);
            return cli_fail_error(cli, &err);
        }
        const struct node *list = node_find(answer.root, "events");
        n = list != NULL ? list->count : 0;
        for (const struct node *one = n > 0 ? list->first : NULL; one != NULL;
             one = one->next) {
            since = node_get_int(one, "revision", since);
            json_print(json_of_node(one), &content);
            text_puts(&content, "\n");
        }
    }
    return write_text(cli, folder, EXPORT_EVENTS, &content);
}

/* Appends what the server has behind `since`; *more: it has more. */
static enum ht_status add_metadata(struct cli *cli,
                                   const struct cli_study *study,
                                   int64_t *since, bool *more,
                                   struct text *content, struct ht_error *err)
{
    struct cli_http_answer answer;
    const enum ht_status status =
        cli_call(cli, "GET",
                 below(cli, study,
                       arena_printf(cli->arena, "/metadata?since=%lld",
                                    (long long)*since)),
                 NULL, &answer, err);
    if (status != HT_OK)
        return status;
    for (const struct node *one = node_first(answer.root, "metadata");
         one != NULL; one = one->next) {
        text_puts(content, content->len > 0 ? ",\n" : "[");
        json_print(json_of_node(one), content);
    }
    *since = node_get_int(answer.root, "version", *since);
    *more = node_get_bool(answer.root, "more", false);
    return HT_OK;
}

static int write_metadata(struct cli *cli, const struct cli_study *study,
                          const char *folder)
{
    struct text content = {0};
    struct ht_error err;
    int64_t since = 0;
    bool more = true;
    while (more) {
        if (add_metadata(cli, study, &since, &more, &content, &err) != HT_OK) {
            text_free(&content);
            return cli_fail_error(cli, &err);
        }
    }
    if (content.len == 0)
        return CLI_DONE;
    text_puts(&content, "]\n");
    return write_text(cli, folder, EXPORT_METADATA, &content);
}

int cli_export_folder(struct cli *cli, const struct cli_study *study,
                      const char *path)
{
    if (mkdir(path, 0777) != 0)
        return cli_fail(cli, errno == EEXIST ? CLI_CONFLICT : CLI_REFUSED,
                        "cannot make the folder %s: %s", path, strerror(errno));
    int code = write_spec(cli, study, path);
    if (code == CLI_DONE)
        code = write_study(cli, study, path);
    if (code == CLI_DONE)
        code = write_metadata(cli, study, path);
    return code == CLI_DONE ? write_events(cli, study, path) : code;
}
