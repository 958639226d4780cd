#include "runner/base/guest.h"

#include <stdlib.h>

#include "runner/base/json.h"
#include "runner/base/safe_path.h"

static const char *const names[] = {[SANDBOX_NONE] = "none",
                                    [SANDBOX_LANDLOCK] = "landlock",
                                    [SANDBOX_NAMESPACES] = "namespaces"};
enum { N_SANDBOXES = sizeof names / sizeof *names };

const char *sandbox_name(enum sandbox sandbox)
{
    return names[sandbox];
}

void guest_write(struct text *out, const struct guest *guest)
{
    json_open(out, "guest");
    json_put_string(out, "sandbox", sandbox_name(guest->sandbox));
    json_put_int(out, "firstUid", guest->first_uid);
    json_put_int(out, "lastUid", guest->last_uid);
    json_put_bool(out, "sharedUid", guest->shared_uid);
    json_put_int(out, "gid", guest->gid);
    json_put_strings(out, "groups", &guest->groups);
    json_put_strings(out, "hidden", &guest->hidden);
    json_put_strings(out, "kept", &guest->kept);
    if (guest->given_root != NULL)
        json_put_string(out, "givenRoot", guest->given_root);
    json_put_strings(out, "given", &guest->given);
    json_put_int(out, "fileBytes", guest->file_bytes);
    json_put_int(out, "processes", guest->processes);
    json_put_strings(out, "cgroups", &guest->cgroups);
    json_open_list(out, "cgroupFiles");
    for (size_t i = 0; i < guest->cgroup_files.n; i++) {
        json_open_list(out, NULL);
        json_put_string(out, NULL, guest->cgroup_files.items[i].name);
        json_put_string(out, NULL, guest->cgroup_files.items[i].value);
        json_close_list(out);
    }
    json_close_list(out);
    json_close(out);
}

bool guest_read(struct arena *arena, const struct node *map,
                struct guest *guest)
{
    *guest = (struct guest){.sandbox = SANDBOX_NONE};
    if (map == NULL)
        return true;
    const int sandbox = json_find_word(map, "sandbox", names, N_SANDBOXES);
    guest->sandbox = sandbox < 0 ? SANDBOX_NONE : (enum sandbox)sandbox;
    guest->first_uid = node_get_int(map, "firstUid", 0);
    guest->last_uid = node_get_int(map, "lastUid", 0);
    guest->shared_uid = node_get_bool(map, "sharedUid", false);
    guest->gid = node_get_int(map, "gid", 0);
    guest->given_root = node_get_string(map, "givenRoot", NULL);
    guest->file_bytes = node_get_int(map, "fileBytes", 0);
    guest->processes = node_get_int(map, "processes", 0);
    return sandbox >= 0 &&
           json_read_strings(arena, node_find(map, "groups"), SIZE_MAX,
                             &guest->groups) &&
           json_read_strings(arena, node_find(map, "hidden"), SIZE_MAX,
                             &guest->hidden) &&
           json_read_strings(arena, node_find(map, "kept"), SIZE_MAX,
                             &guest->kept) &&
           json_read_strings(arena, node_find(map, "given"), SIZE_MAX,
                             &guest->given) &&
           json_read_strings(arena, node_find(map, "cgroups"), SIZE_MAX,
                             &guest->cgroups) &&
           json_read_pairs(arena, node_find(map, "cgroupFiles"), SIZE_MAX,
                           &guest->cgroup_files);
}

bool guest_hides(const struct guest *guest, const char *path)
{
    for (size_t i = 0; i < guest->hidden.n; i++) {
        if (safe_path_rest(guest->hidden.items[i], path) != NULL)
            return true;
    }
    return false;
}

static bool is_of(const struct guest *guest, int64_t id)
{
    return id >= guest->first_uid && id <= guest->last_uid;
}

static bool has_group(const struct guest *guest, gid_t gid)
{
    if (guest->gid > 0 ? gid == (gid_t)guest->gid : is_of(guest, gid))
        return true;
    for (size_t i = 0; i < guest->groups.n; i++) {
        if (strtoul(guest->groups.items[i], NULL, 10) == gid)
            return true;
    }
    return false;
}

bool guest_may_write(const struct guest *guest, const struct stat *file)
{
    return guest->first_uid == 0 || is_of(guest, file->st_uid) ||
           (file->st_mode & S_IWOTH) != 0 ||
           ((file->st_mode & S_IWGRP) != 0 && has_group(guest, file->st_gid));
}
