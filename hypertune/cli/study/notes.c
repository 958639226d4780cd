/* notes.c - `note` and `tag`: what people write about a study or a trial. */

#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/study/logs.h"
#include "hypertune/cli/study/study.h"
#include "proto/doc/json.h"

enum { MOST_STDIN = 1 << 20 }; /* the server has its own, lower bound */

/* The path of the notes of what the word names: STUDY, or STUDY/ID. */
static int find_notes(struct cli *cli, const char *word, const char **path)
{
    struct cli_study study;
    const char *name, *trial;
    if (cli_study_split(cli, word, &name, &trial)) {
        const int code = cli_study_open_trial(cli, word, &study, &trial);
        if (code == CLI_DONE)
            *path = cli_study_path(cli, study.id, "/trials/%s/notes", trial);
        return code;
    }
    const int code = cli_study_open(cli, word, &study);
    if (code == CLI_DONE)
        *path = cli_study_path(cli, study.id, "/notes");
    return code;
}

static const char *tags_of(struct cli *cli, const struct node *notes)
{
    struct text text = {0};
    NODE_EACH (tag, node_first(notes, "tags"))
        text_print_safe(&text, "%s%s", text.len > 0 ? " " : "",
                        cli_scalar(tag));
    return text.len > 0 ? arena_strndup(cli->arena, text.data, text.len) : "";
}

/* The note's text, or the tags, as `what` says. */
static int print_notes(struct cli *cli, const struct node *notes,
                       const char *what)
{
    struct text out = {0};
    text_puts(&out, "");
    if (!cli_output_resource(cli->format, notes, &out)) {
        const char *shown = strcmp(what, "tags") == 0
                                ? tags_of(cli, notes)
                                : node_get_string(notes, "note", "");
        if (cli->set.raw)
            text_puts(&out, shown);
        else
            cli_log_escape(arena_strdup(cli->arena, shown), &out);
        if (shown[0] != '\0')
            text_puts(&out, "\n");
    }
    return cli_print(&out);
}

/* `prints`: the tags that are there now. */
static int change(struct cli *cli, const char *path, cJSON *body, bool prints)
{
    struct ht_error err;
    struct cli_http_answer answer;
    const char *text = json_text(cli->arena, body);
    if (cli_call(cli, "PATCH", path, text, &answer, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return prints ? print_notes(cli, answer.root, "tags") : CLI_DONE;
}

static int show(struct cli *cli, const char *path, const char *what)
{
    struct ht_error err;
    const struct node *notes;
    return cli_get(cli, path, &notes, &err) == HT_OK
               ? print_notes(cli, notes, what)
               : cli_fail_error(cli, &err);
}

int cli_note(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    const char *path, *note = words->n > 1 ? words->items[1] : NULL;
    size_t len;
    const int code = find_notes(cli, words->items[0], &path);
    if (code != CLI_DONE)
        return code;
    if (note == NULL)
        return show(cli, path, "note");
    if (strcmp(note, "-") == 0)
        note = cli_read_all(cli->arena, STDIN_FILENO, MOST_STDIN, &len);
    if (note == NULL)
        return cli_fail(cli, CLI_USAGE, "stdin cannot be read");
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "note", note);
    return change(cli, path, body, false);
}

int cli_tag(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    const char *path;
    cJSON *body = cJSON_CreateObject();
    cJSON *more = json_add_array(body, "addTags");
    cJSON *less = json_add_array(body, "removeTags");
    for (size_t i = 1; i < words->n; i++)
        json_push_string(more, words->items[i]);
    for (size_t i = 0; i < cli->set.remove.n; i++)
        json_push_string(less, cli->set.remove.items[i]);
    const int code = find_notes(cli, words->items[0], &path);
    if (code == CLI_DONE && words->n + cli->set.remove.n > 1)
        return change(cli, path, body, true);
    cJSON_Delete(body);
    return code == CLI_DONE ? show(cli, path, "tags") : code;
}
