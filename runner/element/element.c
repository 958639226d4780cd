#include "runner/element/element.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

enum { NAME_BYTES = 32, MODE = 0600 };

static const char self_file[] = "element.json";

const char element_before_limit[] = "stopped before Slurm's time limit";
const char element_with_job[] = "stopped: Slurm ends the job";

static char *name_of(char name[NAME_BYTES], const char *what, int turn)
{
    (void)snprintf(name, NAME_BYTES, "%s.%d", what, turn);
    return name;
}

/* Synced: on NFS only so a full disk is noticed. */
static enum ht_status write_object(const char *folder, const char *name,
                                   struct text *object, struct ht_error *err)
{
    json_close(object);
    text_puts(object, "\n");
    const enum ht_status status =
        disk_write(folder, name, object->data, object->len, MODE, err);
    text_free(object);
    return status;
}

static enum ht_status read_object(struct arena *arena, const char *folder,
                                  const char *name, const struct node **map,
                                  struct ht_error *err)
{
    if (!disk_refresh(folder)) {
        ht_fail(err, HT_NOT_FOUND, "%s does not exist", folder);
        return HT_NOT_FOUND;
    }
    return disk_read_json(arena, folder, name, map, err);
}

/* ---- element.json ---- */

enum ht_status element_write(const char *folder, const struct element *element,
                             struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_int(&out, "job", element->job);
    json_put_int(&out, "index", element->index);
    json_put_int(&out, "turn", element->turn);
    json_put_string(&out, "launch", element->launch);
    json_put_string(&out, "host", element->host);
    json_put_string(&out, "nodes", element->nodes);
    json_put_string(&out, "gpus", element->gpus);
    json_put_int(&out, "beganMs", element->began_ms);
    json_put_int(&out, "endMs", element->end_ms);
    return write_object(folder, self_file, &out, err);
}

enum ht_status element_read(struct arena *arena, const char *folder,
                            struct element *element, struct ht_error *err)
{
    const struct node *map;
    const enum ht_status status =
        read_object(arena, folder, self_file, &map, err);
    if (status != HT_OK)
        return status;
    const struct element read = {
        .job = node_get_int(map, "job", 0),
        .index = (int)node_get_int(map, "index", -1),
        .turn = (int)node_get_int(map, "turn", 1),
        .launch = node_get_string(map, "launch", ""),
        .host = node_get_string(map, "host", ""),
        .nodes = node_get_string(map, "nodes", ""),
        .gpus = node_get_string(map, "gpus", ""),
        .began_ms = node_get_int(map, "beganMs", 0),
        .end_ms = node_get_int(map, "endMs", 0),
    };
    if (read.job <= 0 || read.index < 0)
        return ht_fail(err, HT_CORRUPT, "%s/%s names no job", folder,
                       self_file);
    *element = read;
    return HT_OK;
}

/* ---- ask.N and answer.N ---- */

static const char ask_word[] = "ask";
static const char answer_word[] = "answer";

enum ht_status element_ask(const char *folder, int turn, struct ht_error *err)
{
    char name[NAME_BYTES];
    return disk_write(folder, name_of(name, ask_word, turn), "", 0, MODE, err);
}

/* The N of "ask.N"; 0: it is another file. */
static int turn_of(const char *name)
{
    const size_t len = sizeof ask_word - 1;
    char *end;
    if (strncmp(name, ask_word, len) != 0 || name[len] != '.')
        return 0;
    const long turn = strtol(name + len + 1, &end, 10);
    return *end == '\0' && turn > 0 && turn < INT32_MAX ? (int)turn : 0;
}

enum ht_status element_asked(const char *folder, int *turn, bool *answered,
                             struct ht_error *err)
{
    char name[NAME_BYTES];
    struct dirent *entry;
    int highest = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL && (errno == ENOENT || errno == ESTALE))
        return ht_fail(err, HT_NOT_FOUND, "%s does not exist", folder);
    if (dir == NULL)
        return ht_fail_errno(err, errno, "cannot read %s", folder);
    while ((entry = readdir(dir)) != NULL) {
        const int n = turn_of(entry->d_name);
        highest = n > highest ? n : highest;
    }
    closedir(dir);
    *turn = highest;
    *answered =
        highest > 0 && disk_has(folder, name_of(name, answer_word, highest));
    return HT_OK;
}

static void put_text(struct text *out, const char *key, const char *value)
{
    if (value != NULL)
        json_put_string(out, key, value);
}

enum ht_status element_answer_write(const char *folder, int turn,
                                    const struct element_answer *answer,
                                    struct ht_error *err)
{
    char name[NAME_BYTES];
    struct text out = {0};
    json_open(&out, NULL);
    if (answer->end) {
        json_put_bool(&out, "end", true);
    } else {
        json_put_string(&out, "folder", answer->folder);
        json_put_int(&out, "limitMs", answer->limit_ms);
        json_put_int(&out, "graceMs", answer->grace_ms);
        put_text(&out, "report", answer->report.to);
        put_text(&out, "pins", answer->report.pins);
    }
    return write_object(folder, name_of(name, answer_word, turn), &out, err);
}

enum ht_status element_answer_read(struct arena *arena, const char *folder,
                                   int turn, struct element_answer *answer,
                                   struct ht_error *err)
{
    char name[NAME_BYTES];
    const struct node *map;
    const enum ht_status status =
        read_object(arena, folder, name_of(name, answer_word, turn), &map, err);
    if (status != HT_OK)
        return status;
    const struct element_answer read = {
        .end = node_get_bool(map, "end", false),
        .folder = node_get_string(map, "folder", NULL),
        .limit_ms = node_get_int(map, "limitMs", 0),
        .grace_ms = node_get_int(map, "graceMs", 0),
        .report = {.to = node_get_string(map, "report", NULL),
                   .pins = node_get_string(map, "pins", NULL)},
    };
    if (!read.end && (read.folder == NULL || read.folder[0] != '/'))
        return ht_fail(err, HT_CORRUPT, "%s/%s names no folder", folder, name);
    *answer = read;
    return HT_OK;
}

/* ---- patience.json ---- */

static const char patience_file[] = "patience.json";

enum ht_status element_patience_write(const char *batch,
                                      const struct element_patience *patience,
                                      struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_int(&out, "answerMs", patience->answer_ms);
    json_put_int(&out, "killWaitMs", patience->kill_wait_ms);
    json_put_int(&out, "limitMs", patience->limit_ms);
    return write_object(batch, patience_file, &out, err);
}

static int64_t get_or(const struct node *map, const char *key, int64_t fallback)
{
    const int64_t value =
        map != NULL ? node_get_int(map, key, fallback) : fallback;
    return value > 0 ? value : fallback;
}

struct element_patience element_patience_read(const char *batch)
{
    enum { ANSWER_MS = 10 * 60 * 1000, KILL_WAIT_MS = 5000 };
    struct arena *arena = arena_new();
    const struct node *map = NULL;
    if (read_object(arena, batch, patience_file, &map, NULL) != HT_OK)
        map = NULL;
    const struct element_patience patience = {
        .answer_ms = get_or(map, "answerMs", ANSWER_MS),
        .kill_wait_ms = get_or(map, "killWaitMs", KILL_WAIT_MS),
        .limit_ms = get_or(map, "limitMs", 0),
    };
    arena_free(arena);
    return patience;
}
