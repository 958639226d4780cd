#include "tuner/backup/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/replace_file.h"
#include "proto/doc/json.h"

enum { FORM = 1, MOST_BYTES = 64 * 1024 };

const struct backup_part backup_parts[BACKUP_FILES] = {
    {LOGS_DB, true},
    {MAIN_DB, true},
    {"webhooks.db", true},
    {"mlflow.db", true},
    {"webhooks.json", false}};

/* For who finds such a folder. */
static const char not_inside[] =
    "token, runner-token, tls and files of secrets; runs (outputs of trials); "
    "tensorboard, which is made anew";

/* --- writing --- */

static void add_marks(cJSON *object, const struct db_marks *marks)
{
    cJSON *all = json_add_object(object, "marks");
    json_add_int(all, "studies", marks->studies);
    json_add_int(all, "revisions", marks->revisions);
    json_add_int(all, "metadata", marks->metadata);
    json_add_int(all, "audit", marks->audit);
}

enum ht_status manifest_write(const char *folder,
                              const struct backup_manifest *manifest,
                              struct ht_error *err)
{
    char stamp[CLOCK_STAMP_BYTES];
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "form", FORM);
    json_add_string(object, "made", clock_stamp(stamp, manifest->made_ms));
    json_add_int(object, "madeMs", manifest->made_ms);
    json_add_string(object, "version", manifest->program);
    json_add_string(object, "server", manifest->marks.server_id);
    json_add_int(object, "incarnation", manifest->marks.incarnation);
    json_add_int(object, "schema", manifest->marks.version);
    add_marks(object, &manifest->marks);
    cJSON *files = json_add_array(object, "files");
    for (size_t i = 0; i < BACKUP_FILES; i++) {
        if (manifest->files[i].bytes < 0)
            continue;
        cJSON *file = json_push_object(files);
        json_add_string(file, "name", backup_parts[i].name);
        json_add_int(file, "bytes", manifest->files[i].bytes);
        json_add_string(file, "sha256", manifest->files[i].sha256);
    }
    json_add_string(object, "notInside", not_inside);
    struct text out = {0};
    json_print_pretty(object, &out);
    text_puts(&out, "\n");
    const enum ht_status status =
        replace_file(folder, MANIFEST, out.data, out.len, err);
    text_free(&out);
    return status;
}

/* --- reading --- */

static enum ht_status read_text(struct arena *arena, const char *path,
                                const char **text, size_t *len,
                                struct ht_error *err)
{
    char *buffer = arena_alloc(arena, MOST_BYTES, 1);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, buffer, MOST_BYTES) : -1;
    const int failed = errno;
    if (fd >= 0)
        close(fd);
    if (fd < 0 && failed == ENOENT)
        return ht_fail(err, HT_NOT_FOUND, "there is no %s", path);
    if (n < 0)
        return ht_fail_errno(err, failed, "cannot read %s", path);
    if (n == MOST_BYTES)
        return ht_fail(err, HT_CORRUPT, "%s is damaged: it is too long", path);
    *text = buffer;
    *len = (size_t)n;
    return HT_OK;
}

static size_t find_part(const char *name)
{
    size_t i = 0;
    while (i < BACKUP_FILES && strcmp(backup_parts[i].name, name) != 0)
        i++;
    return i;
}

static enum ht_status read_file(const struct node *file, const char *path,
                                struct backup_manifest *manifest,
                                struct ht_error *err)
{
    const char *name = node_get_string(file, "name", "");
    const char *sha256 = node_get_string(file, "sha256", "");
    const size_t i = find_part(name);
    if (i == BACKUP_FILES || manifest->files[i].bytes >= 0)
        return ht_fail(err, HT_CORRUPT,
                       "%s is damaged: \"%.64s\" is no file of a backup, or "
                       "there twice",
                       path, name);
    if (node_get_int(file, "bytes", -1) < 0 ||
        strlen(sha256) != TOKEN_TEXT_BYTES - 1)
        return ht_fail(err, HT_CORRUPT,
                       "%s is damaged: %s has no bytes or no sha256", path,
                       name);
    manifest->files[i].bytes = node_get_int(file, "bytes", -1);
    memcpy(manifest->files[i].sha256, sha256, TOKEN_TEXT_BYTES);
    return HT_OK;
}

static enum ht_status read_root(const struct node *root, const char *path,
                                struct backup_manifest *manifest,
                                struct ht_error *err)
{
    const struct node *marks = node_find(root, "marks");
    const char *server = node_get_string(root, "server", "");
    if (node_get_int(root, "form", 0) > FORM)
        return ht_fail(err, HT_CORRUPT,
                       "%s has a form that a newer program wrote; use that",
                       path);
    if (node_get_int(root, "form", 0) != FORM || marks == NULL ||
        strlen(server) >= DB_SERVER_ID_BYTES)
        return ht_fail(err, HT_CORRUPT,
                       "%s is damaged: form, server or marks is missing", path);
    *manifest = (struct backup_manifest){
        .made_ms = node_get_int(root, "madeMs", 0),
        .program = node_get_string(root, "version", ""),
        .marks = {.incarnation = node_get_int(root, "incarnation", 0),
                  .version = node_get_int(root, "schema", 0),
                  .studies = node_get_int(marks, "studies", -1),
                  .revisions = node_get_int(marks, "revisions", -1),
                  .metadata = node_get_int(marks, "metadata", -1),
                  .audit = node_get_int(marks, "audit", -1)}};
    memcpy(manifest->marks.server_id, server, strlen(server) + 1);
    for (size_t i = 0; i < BACKUP_FILES; i++)
        manifest->files[i].bytes = -1;
    enum ht_status status = HT_OK;
    NODE_EACH (file, node_first(root, "files"))
        if (status == HT_OK)
            status = read_file(file, path, manifest, err);
    if (status == HT_OK && manifest->files[find_part(MAIN_DB)].bytes < 0)
        return ht_fail(err, HT_CORRUPT, "%s is damaged: it has no %s", path,
                       MAIN_DB);
    return status;
}

enum ht_status manifest_read(struct arena *arena, const char *folder,
                             struct backup_manifest *manifest,
                             struct ht_error *err)
{
    const char *path = arena_printf(arena, "%s/%s", folder, MANIFEST);
    const char *text = NULL;
    size_t len = 0;
    struct diag diag;
    const enum ht_status status = read_text(arena, path, &text, &len, err);
    if (status != HT_OK)
        return status;
    diag_init(&diag, arena, MANIFEST, text, len);
    const struct node *root = node_read_json(arena, text, len, &diag);
    if (root == NULL)
        return ht_fail(err, HT_CORRUPT, "%s is damaged: it is no JSON", path);
    return read_root(root, path, manifest, err);
}
