#include "proto/net/ssh_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A socket's path has at most 107 bytes; %C becomes 40, and while ssh opens a
 * master it adds 17 more. */
enum { FOLDER_MOST = 107 - 1 - 40 - 17 };

static const char *usual_folder(struct arena *arena)
{
    /* Not XDG_RUNTIME_DIR, which a service may have not, and which ends with
     * the last session of its user. */
    const char *said = getenv("HYPERTUNE_SSH_DIR");
    if (said != NULL && said[0] == '/')
        return said;
    return arena_printf(arena, "/tmp/hypertune-%ld", (long)getuid());
}

enum ht_status ssh_control_path(struct arena *arena, const char *folder,
                                const char *host, const char **path,
                                struct ht_error *err)
{
    struct stat about;
    /* What begins with a dash would be an option. */
    if (host[0] == '\0' || host[0] == '-')
        return ht_fail(err, HT_INVALID, "\"%s\" is no host", host);
    if (folder == NULL)
        folder = usual_folder(arena);
    if (strlen(folder) > FOLDER_MOST)
        return ht_fail(err, HT_INVALID,
                       "%s is too long for sockets of ssh: at most %d bytes",
                       folder, FOLDER_MOST);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return ht_fail_errno(err, errno, "%s", folder);
    if (lstat(folder, &about) != 0)
        return ht_fail_errno(err, errno, "%s", folder);
    if (!S_ISDIR(about.st_mode) || about.st_uid != getuid() ||
        (about.st_mode & 077) != 0)
        return ht_fail(err, HT_PRECONDITION,
                       "%s is not a folder of this user alone (mode 0700)",
                       folder);
    *path = arena_printf(arena, "%s/%%C", folder);
    return HT_OK;
}
