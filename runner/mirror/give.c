#include "runner/mirror/give.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/whole.h"
#include "proto/tree/beneath.h"

enum { HEAD = 1 + 8, MOST_WORDS = 300 };

struct giving {
    look_send *send;
    void *context;
    unsigned number; /* of the list */
    size_t n;
    char words[MOST_WORDS]; /* the first thing that went wrong */
    bool closed;
};

static void fail(struct giving *giving, const char *path, const char *why)
{
    if (giving->words[0] == '\0')
        (void)snprintf(giving->words, sizeof giving->words, "%.200s: %s", path,
                       why);
}

/* ---- an entry ---- */

static uint32_t stamp_of(const struct stat *is)
{
    const uint64_t parts[] = {
        (uint64_t)is->st_ino,         (uint64_t)is->st_size,
        (uint64_t)is->st_mtim.tv_sec, (uint64_t)is->st_mtim.tv_nsec,
        (uint64_t)is->st_ctim.tv_sec, (uint64_t)is->st_ctim.tv_nsec};
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]) * 0x100000001b3 + (hash >> 29);
    const uint32_t stamp = (uint32_t)(hash ^ hash >> 32);
    return stamp != 0 ? stamp : 1;
}

bool give_read_entry(const struct frame *frame, struct give_entry *entry)
{
    char head[HEAD], *end;
    if (frame->len < HEAD || strlen(frame->data) != frame->len)
        return false;
    memcpy(head, frame->data + 1, HEAD - 1);
    head[HEAD - 1] = '\0';
    *entry = (struct give_entry){.kind = (enum give_kind)frame->data[0],
                                 .stamp = (uint32_t)strtoul(head, &end, 16),
                                 .target = frame->data + HEAD};
    return *end == '\0' && strchr("dfxl", frame->data[0]) != NULL &&
           (entry->kind == GIVE_LINK) == (*entry->target != '\0');
}

static void send_entry(struct giving *giving, const char *path, int64_t size,
                       const struct give_entry *entry)
{
    char data[HEAD + FRAME_PATH + 1];
    const int len = snprintf(data, sizeof data, "%c%08lx%s", (char)entry->kind,
                             (unsigned long)entry->stamp, entry->target);
    giving->closed =
        giving->closed ||
        !giving->send(giving->context, &(struct frame){.kind = FRAME_ENTRY,
                                                       .path = path,
                                                       .mode = giving->number,
                                                       .number = (uint64_t)size,
                                                       .data = data,
                                                       .len = (size_t)len});
    giving->n++;
}

/* ---- a list ---- */

static void list_folder(struct giving *giving, int fd, const char *path);

static void list_link(struct giving *giving, int folder, const char *name,
                      const char *path)
{
    char target[FRAME_PATH + 1];
    const ssize_t n = readlinkat(folder, name, target, FRAME_PATH);
    if (n <= 0 || n == FRAME_PATH) {
        fail(giving, path, "the link cannot be read");
        return;
    }
    target[n] = '\0';
    send_entry(giving, path, 0,
               &(struct give_entry){.kind = GIVE_LINK, .target = target});
}

static void list_entry(struct giving *giving, int folder, const char *name,
                       const char *path)
{
    struct stat is;
    if (giving->n >= GIVE_MOST) {
        fail(giving, path, "there are too many files");
        return;
    }
    if (fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW) != 0)
        return; /* removed meanwhile */
    if (!names_is_path(path)) {
        fail(giving, path, "a name or path that cannot be brought");
    } else if (S_ISREG(is.st_mode)) {
        send_entry(giving, path, is.st_size,
                   &(struct give_entry){
                       .kind = is.st_mode & S_IXUSR ? GIVE_PROGRAM : GIVE_FILE,
                       .stamp = stamp_of(&is),
                       .target = ""});
    } else if (S_ISLNK(is.st_mode)) {
        list_link(giving, folder, name, path);
    } else if (S_ISDIR(is.st_mode)) {
        const int fd = beneath_open(folder, name, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
            fail(giving, path, strerror(errno));
        else
            list_folder(giving, fd, path);
    }
}

/* Closes the descriptor. */
static void list_folder(struct giving *giving, int fd, const char *path)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    if (dir == NULL) {
        fail(giving, path, strerror(errno));
        close(fd);
        return;
    }
    send_entry(giving, path, 0,
               &(struct give_entry){.kind = GIVE_FOLDER, .target = ""});
    while (!giving->closed && giving->words[0] == '\0' &&
           (entry = readdir(dir)) != NULL) {
        char *inner = NULL;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (asprintf(&inner, "%s/%s", path, entry->d_name) > 0)
            list_entry(giving, fd, entry->d_name, inner);
        free(inner);
    }
    closedir(dir);
}

void give_list(int root, const struct frame *frame, look_send *send,
               void *context)
{
    const char *name;
    struct giving giving = {
        .send = send, .context = context, .number = (unsigned)frame->number};
    const int folder = beneath_open_parent(root, frame->path, &name);
    if (folder >= 0) {
        list_entry(&giving, folder, name, frame->path);
        close(folder);
    } else if (errno != ENOENT) {
        fail(&giving, frame->path, strerror(errno));
    }
    (void)send(context, &(struct frame){.kind = FRAME_LISTED,
                                        .path = frame->path,
                                        .number = giving.number,
                                        .mode = giving.n > 0 ? 1 : 0,
                                        .data = giving.words,
                                        .len = strlen(giving.words)});
}

/* ---- a part ---- */

void give_part(int root, const struct frame *frame, look_send *send,
               void *context)
{
    char bytes[FRAME_DATA];
    struct stat is;
    struct frame part = {.kind = FRAME_PART,
                         .path = frame->path,
                         .number = frame->number,
                         .data = bytes};
    const int fd =
        beneath_open(root, frame->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
        (int64_t)frame->number >= 0) {
        const ssize_t n =
            whole_read_at(fd, bytes, sizeof bytes, (int64_t)frame->number);
        if (n >= 0 && fstat(fd, &is) == 0) {
            part.mode = stamp_of(&is);
            part.len = (size_t)n;
        }
    }
    if (fd >= 0)
        close(fd);
    (void)send(context, &part);
}
