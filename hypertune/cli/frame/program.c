/* program.c - finds hypertune's other programs beside this one or in the PATH.
 */

#include "hypertune/cli/frame/spawn.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static enum ht_status check_file(const char *path, struct ht_error *err)
{
    if (!is_file(path))
        return ht_fail(err, HT_NOT_FOUND, "there is no program %s", path);
    if (access(path, X_OK) != 0)
        return ht_fail(err, HT_DENIED,
                       "%s cannot be executed (chmod +x, or name its "
                       "interpreter first)",
                       path);
    return HT_OK;
}

static char *path_below(struct arena *arena, const char *folder, size_t len,
                        const char *name)
{
    return arena_printf(arena, "%.*s/%s", (int)len, folder, name);
}

static char *absolute(struct arena *arena, const char *workdir,
                      const char *name, size_t len)
{
    if (len > 0 && name[0] == '/')
        return arena_strndup(arena, name, len);
    if (len > 2 && strncmp(name, "./", 2) == 0) {
        name += 2;
        len -= 2;
    }
    return arena_printf(arena, "%s/%.*s", workdir, (int)len, name);
}

static enum ht_status refuse(struct arena *arena,
                             const struct cli_program_query *query,
                             const char *denied, struct ht_error *err)
{
    if (denied != NULL)
        return check_file(denied, err);
    const char *here =
        path_below(arena, query->workdir, strlen(query->workdir), query->name);
    if (is_file(here))
        return ht_fail(err, HT_NOT_FOUND,
                       "%s is not in PATH; for the file beside the spec say "
                       "./%s",
                       query->name, query->name);
    if (strcmp(query->name, "python") == 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "python is not in PATH; activate its environment "
                       "first, or say python3");
    return ht_fail(err, HT_NOT_FOUND, "%s is not in PATH", query->name);
}

enum ht_status cli_program_find(struct arena *arena,
                                const struct cli_program_query *query,
                                const char **program, struct ht_error *err)
{
    if (strchr(query->name, '/') != NULL) {
        char *path =
            absolute(arena, query->workdir, query->name, strlen(query->name));
        enum ht_status status = check_file(path, err);
        if (status == HT_OK)
            *program = path;
        return status;
    }
    const char *denied = NULL;
    for (const char *at = query->path; at != NULL;) {
        size_t len = strcspn(at, ":");
        char *folder = absolute(arena, query->workdir, at, len);
        char *path = path_below(arena, folder, strlen(folder), query->name);
        if (check_file(path, NULL) == HT_OK) {
            *program = path;
            return HT_OK;
        }
        if (is_file(path))
            denied = path;
        at = at[len] == ':' ? at + len + 1 : NULL;
    }
    return refuse(arena, query, denied, err);
}
