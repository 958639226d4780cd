/* ssh_control.h - where the master of ssh to a host has its socket: a person
 * opens it by `hypertune runners connect HOST`, and the runner uses it. */
#ifndef HT_PROTO_NET_SSH_CONTROL_H
#define HT_PROTO_NET_SSH_CONTROL_H

#include "proto/base/arena.h"
#include "proto/base/error.h"

/* *path: for ssh's ControlPath, in the arena; ssh itself replaces %C. `folder`
 * is absolute and becomes a folder of this user alone; NULL:
 * HYPERTUNE_SSH_DIR, else /tmp/hypertune-UID.
 * HT_INVALID       no host, or the folder's path is too long for a socket
 * HT_PRECONDITION  the folder is another user's, or open to others
 * HT_IO            it cannot be made */
enum ht_status ssh_control_path(struct arena *arena, const char *folder,
                                const char *host, const char **path,
                                struct ht_error *err);

#endif
