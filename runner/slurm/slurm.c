#include "runner/slurm/slurm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/crc32c.h"
#include "proto/base/text.h"
#include "runner/slurm/way.h"

/* sockaddr_un has 108 bytes, and ssh adds 17 to the path while it opens the
 * socket. */
enum { MOST_SOCKET = 90 };

const char *slurm_ssh_socket(struct arena *arena, const char *folder,
                             const char *ssh)
{
    return arena_printf(arena, "%s/ssh-%08x", folder,
                        (unsigned)crc32c(0, ssh, strlen(ssh)));
}

static bool is_in_path(struct arena *arena, const char *program)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        const size_t len = strcspn(path, ":");
        const char *file =
            arena_printf(arena, "%.*s/%s", (int)len, path, program);
        if (len > 0 && access(file, X_OK) == 0)
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}

static enum ht_status open_ssh(struct slurm *slurm,
                               const struct slurm_settings *settings,
                               struct ht_error *err)
{
    /* A name that begins with '-' would be an option of ssh. */
    if (settings->ssh[0] == '-' || settings->ssh[0] == '\0')
        return ht_fail(err, HT_INVALID,
                       "\"%s\" is no login node: write "
                       "[USER@]HOST",
                       settings->ssh);
    if (settings->folder == NULL)
        return ht_fail(err, HT_INVALID, "ssh needs a folder for its socket");
    const char *socket =
        slurm_ssh_socket(slurm->arena, settings->folder, settings->ssh);
    if (strlen(socket) > MOST_SOCKET)
        return ht_fail(err, HT_INVALID,
                       "%s: too long for a socket of ssh: use a folder with a "
                       "shorter path",
                       settings->folder);
    commands_open(slurm, settings->ssh, socket);
    return HT_OK;
}

static enum ht_status open_way(struct slurm *slurm,
                               const struct slurm_settings *settings,
                               struct ht_error *err)
{
    const char *rest =
        settings->rest != NULL ? settings->rest : getenv("SLURM_REST_URL");
    if (settings->ssh != NULL)
        return open_ssh(slurm, settings, err);
    if (rest != NULL && rest[0] != '\0')
        return rest_open(slurm, rest, settings->token_file, err);
    if (!is_in_path(slurm->arena, "sbatch"))
        return ht_fail(err, HT_NOT_FOUND,
                       "no way to Slurm: SLURM_REST_URL is not set and there "
                       "is no sbatch in PATH");
    commands_open(slurm, NULL, NULL);
    return HT_OK;
}

enum ht_status slurm_open(const struct slurm_settings *settings,
                          struct slurm **slurm, struct ht_error *err)
{
    struct slurm *opened = ht_xcalloc(1, sizeof *opened);
    opened->arena = arena_new();
    const enum ht_status status = open_way(opened, settings, err);
    if (status == HT_OK)
        *slurm = opened;
    else
        slurm_close(opened);
    return status;
}

void slurm_close(struct slurm *slurm)
{
    if (slurm == NULL)
        return;
    if (slurm->functions != NULL)
        slurm->functions->close(slurm->way);
    arena_free(slurm->arena);
    free(slurm);
}

const char *slurm_way(const struct slurm *slurm)
{
    return slurm->name;
}

enum ht_status slurm_submit(struct slurm *slurm,
                            const struct slurm_batch *batch, int64_t *job,
                            struct ht_error *err)
{
    return slurm->functions->submit(slurm->way, batch, job, err);
}

enum ht_status slurm_test(struct slurm *slurm, const struct slurm_batch *batch,
                          struct arena *arena, const char **words,
                          struct ht_error *err)
{
    return slurm->functions->test(slurm->way, batch, arena, words, err);
}

enum ht_status slurm_list(struct slurm *slurm, const char *prefix,
                          struct arena *arena, struct slurm_rows *rows,
                          struct ht_error *err)
{
    return slurm->functions->list(slurm->way, prefix, arena, rows, err);
}

enum ht_status slurm_cancel(struct slurm *slurm, int64_t job, int first,
                            int last, bool waiting, struct ht_error *err)
{
    return slurm->functions->cancel(slurm->way, job, first, last, waiting, err);
}

enum ht_status slurm_limits(struct slurm *slurm, struct arena *arena,
                            struct slurm_limits *limits, struct ht_error *err)
{
    return slurm->functions->limits(slurm->way, arena, limits, err);
}
