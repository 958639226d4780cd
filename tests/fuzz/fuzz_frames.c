/* Any bytes as what a pod or a login node sends a runner that pulls a tree and
 * watches an attempt: nothing is written but in the folders of both, and what
 * this side gives where it is asked for a list or a part is accepted there.
 *
 * A connection that was of no use is followed by a new one.
 *
 * fuzz-with: runner */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "runner/base/disk.h"
#include "runner/far/parts.h"
#include "runner/mirror/give.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define TRIAL "state/1/2"
#define OUTSIDE "outside" /* of all that may change */

/* In memory where it can be. */
static char top[64], state[128];
static int top_fd, there;
static struct site site = {.state = state};
static struct far far;

static void make_file(const char *path, const char *text)
{
    const int fd =
        openat(top_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(fd);
}

static void make_folders(const char *const paths[])
{
    for (; *paths != NULL; paths++)
        if (mkdirat(top_fd, *paths, 0700) != 0)
            abort();
}

static void end(void)
{
    file_tree_remove(top, NULL, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const folders[] = {
        "state",    "root",           "root/1",
        "root/1/2", "root/1/2/model", "root/1/2/model/sub",
        NULL};
    (void)argc;
    (void)argv;
    (void)snprintf(top, sizeof top, "%s/fuzz-frames-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(top) == NULL)
        abort();
    (void)snprintf(state, sizeof state, "%s/state", top);
    top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_folders(folders);
    make_file("root/1/2/model/sub/w", "weights");
    make_file(OUTSIDE, "as it was");
    if (symlinkat("sub/w", top_fd, "root/1/2/model/last") != 0)
        abort();
    there = openat(top_fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    log_set_level(LOG_ERROR);
    atexit(end);
    return 0;
}

/* ---- the two ends ---- */

static enum far_pulled pull(void)
{
    char folder[160], aside[160];
    struct ht_error err;
    (void)snprintf(folder, sizeof folder, "%s/1/2/model", state);
    (void)snprintf(aside, sizeof aside, "%s/1/2/aside", state);
    return far_pull(
        &far,
        &(struct far_pull_wish){.folder = folder, .below = "", .aside = aside},
        &err);
}

static void take(const struct frame *frame)
{
    struct ht_error err;
    const enum ht_status status = far_receive(&far, frame, &err);
    if (status != HT_OK && status != HT_CORRUPT && status != HT_IO)
        abort();
    if (status != HT_OK)
        far.synced = ++far.connection;
    (void)pull();
    text_clear(&far.queue);
}

static bool bring(void *context, const struct frame *frame)
{
    struct give_entry entry;
    (void)context;
    if (frame->len > FRAME_DATA ||
        (frame->kind == FRAME_ENTRY && !give_read_entry(frame, &entry)))
        abort();
    take(frame);
    return true;
}

/* It is written as it was read. */
static void check_frame(const char *bytes, size_t used,
                        const struct frame *frame)
{
    struct text out = {0};
    frame_write(&out, frame);
    if (out.len != used || memcmp(out.data, bytes, used) != 0)
        abort();
    text_free(&out);
}

static void take_all(const char *bytes, size_t size)
{
    size_t used = 0;
    struct frame frame;
    struct ht_error err;
    for (; frame_read(bytes, size, &frame, &used, &err) == HT_OK;
         bytes += used, size -= used) {
        check_frame(bytes, used, &frame);
        if (frame.kind == FRAME_LIST)
            give_list(there, &frame, bring, NULL);
        else if (frame.kind == FRAME_READ)
            give_part(there, &frame, bring, NULL);
        else
            take(&frame);
    }
}

/* ---- what is there afterwards ---- */

static void check_outside(void)
{
    char text[16] = "";
    const int fd = openat(top_fd, OUTSIDE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0 ||
        strcmp(text, "as it was") != 0)
        abort();
    close(fd);
}

/* Folders have nothing but what belongs there. */
static void check_folders(void)
{
    static const struct {
        const char *path, *names;
    } folders[] = {{".", " . .. state root outside "},
                   {"state", " . .. 1 "},
                   {"state/1", " . .. 2 "},
                   {TRIAL, " . .. 3 model aside "}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char name[300];
        struct dirent *entry;
        const int fd =
            openat(top_fd, folders[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
        while (dir != NULL && (entry = readdir(dir)) != NULL) {
            (void)snprintf(name, sizeof name, " %s ", entry->d_name);
            if (strstr(folders[i].names, name) == NULL)
                abort();
        }
        if (dir != NULL)
            closedir(dir);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char attempt[] = "1/2/3", none[] = "";
    static const char *const folders[] = {"state/1", TRIAL, TRIAL "/model",
                                          NULL};
    struct far_watch watch = {
        .is = NAMES_ATTEMPT, .folder = attempt, .extra = none};
    char *bytes = malloc(size > 0 ? size : 1); /* exact: overreads are seen */
    memcpy(bytes, data, size);
    make_folders(folders);
    far = (struct far){
        .site = &site,
        .name = "place",
        .state = openat(top_fd, "state", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        .wake = -1,
        .connection = 1,
        .synced = 1,
        .first = &watch};
    pthread_mutex_init(&far.lock, NULL);
    pthread_cond_init(&far.changed, NULL);
    (void)pull();
    take_all(bytes, size);
    check_outside();
    check_folders();
    far_pull_free(far.pull);
    close(far.state);
    text_free(&far.queue);
    char trial[160];
    (void)snprintf(trial, sizeof trial, "%s/1", state);
    file_tree_remove(trial, NULL, NULL);
    free(bytes);
    return 0;
}
