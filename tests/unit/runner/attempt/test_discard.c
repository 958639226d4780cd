/* Unwanted outputs are removed, and nothing else. */
#include "proto/base/file_tree.h"
#include "runner/attempt/discard.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "runner/base/disk.h"
#include "tests/check.h"

static struct arena *arena;
static char root[64];

static const char *path_of(const char *name)
{
    return arena_printf(arena, "%s/%s", root, name);
}

static bool exists(const char *name)
{
    struct stat info;
    return lstat(path_of(name), &info) == 0;
}

static void write_file(const char *folder, const char *name)
{
    CHECK(disk_make_folder(path_of(folder), NULL) == HT_OK);
    CHECK(disk_write(path_of(folder), name, "x", 1, 0600, NULL) == HT_OK);
}

/* Waits until so many are done; their `kept` in *kept. */
static size_t await_done(struct discard *discard, size_t number, bool *kept)
{
    struct discard_item items[4];
    size_t n = 0;
    const int64_t end_ms = clock_monotonic_ms() + PATIENCE_MS;
    while (n < number && clock_monotonic_ms() < end_ms) {
        n = discard_report(discard, items, 4);
        usleep(1000);
    }
    CHECK(n == number);
    *kept = n > 0 && items[n - 1].kept;
    return n;
}

static struct discard *start(const struct site *site)
{
    struct discard *discard = NULL;
    CHECK(discard_start(site, &discard, NULL) == HT_OK);
    return discard;
}

static void a_trials_own_folders_go_and_its_attempts_stay(void)
{
    const struct site site = {.state = path_of("state")};
    write_file("state/1/2/model/deep", "m");
    write_file("state/1/2/checkpoints", "c");
    write_file("state/1/2/1/master-0", "stdout");
    write_file("state/1/3/model", "m");
    struct discard *discard = start(&site);
    const struct discard_request request = {.study = 1, .trial = 2};
    bool kept = true;
    discard_ask(discard, &request);
    discard_ask(discard, &request);
    await_done(discard, 1, &kept);
    CHECK(!kept);
    CHECK(!exists("state/1/2/model") && !exists("state/1/2/checkpoints"));
    CHECK(exists("state/1/2/1/master-0/stdout"));
    CHECK(exists("state/1/3/model/m"));
    await_done(discard, 1, &kept); /* reported again until it is confirmed */
    discard_confirm(discard);
    struct discard_item items[4];
    CHECK(discard_report(discard, items, 4) == 0);
    discard_stop(discard);
}

static void outputs_below_a_root_go_others_are_kept(void)
{
    const char *const roots[] = {path_of("data")};
    const struct site site = {.state = path_of("state"),
                              .volume_roots = {1, roots}};
    write_file("data/out/7/model", "m");
    write_file("data/out/7", "notes");
    write_file("elsewhere/7/model", "m");
    struct discard *discard = start(&site);
    bool kept = true;
    discard_ask(discard,
                &(struct discard_request){.study = 1,
                                          .trial = 7,
                                          .output_dir = path_of("data/out/7")});
    await_done(discard, 1, &kept);
    CHECK(!kept && !exists("data/out/7/model"));
    CHECK(exists("data/out/7/notes"));
    discard_confirm(discard);
    discard_ask(discard, &(struct discard_request){.study = 1,
                                                   .trial = 7,
                                                   .output_dir =
                                                       path_of("elsewhere/7")});
    await_done(discard, 1, &kept);
    CHECK(kept && exists("elsewhere/7/model/m"));
    discard_confirm(discard);
    discard_ask(discard, &(struct discard_request){.study = 1,
                                                   .trial = 7,
                                                   .output_dir = "gs://b/o/7"});
    await_done(discard, 1, &kept);
    CHECK(kept);
    discard_stop(discard);
}

static void no_link_leads_out(void)
{
    const char *const roots[] = {path_of("data")};
    const struct site site = {.state = path_of("state"),
                              .volume_roots = {1, roots}};
    write_file("safe/model", "m");
    write_file("data/x", "keep");
    CHECK(symlink(path_of("safe"), path_of("data/x/8")) == 0);
    CHECK(disk_make_folder(path_of("data/y/9"), NULL) == HT_OK);
    CHECK(symlink(path_of("safe/model"), path_of("data/y/9/model")) == 0);
    struct discard *discard = start(&site);
    bool kept = false;
    discard_ask(discard,
                &(struct discard_request){
                    .study = 1, .trial = 8, .output_dir = path_of("data/x/8")});
    await_done(discard, 1, &kept);
    CHECK(kept);
    discard_confirm(discard);
    discard_ask(discard,
                &(struct discard_request){
                    .study = 1, .trial = 9, .output_dir = path_of("data/y/9")});
    await_done(discard, 1, &kept);
    discard_confirm(discard);
    discard_ask(
        discard,
        &(struct discard_request){
            .study = 1, .trial = 10, .output_dir = path_of("data/../safe")});
    await_done(discard, 1, &kept);
    CHECK(kept);
    CHECK(exists("safe/model/m"));
    discard_stop(discard);
}

static void what_is_gone_is_done(void)
{
    const struct site site = {.state = path_of("state")};
    struct discard *discard = start(&site);
    bool kept = true;
    discard_ask(discard, &(struct discard_request){.study = 5, .trial = 5});
    await_done(discard, 1, &kept);
    CHECK(!kept);
    discard_stop(discard);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/ht-discard-XXXXXX",
             tmp == NULL ? "/tmp" : tmp);
    CHECK(mkdtemp(root) != NULL);
    arena = arena_new();
    CHECK(disk_make_folder(path_of("state"), NULL) == HT_OK);
    RUN(a_trials_own_folders_go_and_its_attempts_stay);
    RUN(outputs_below_a_root_go_others_are_kept);
    RUN(no_link_leads_out);
    RUN(what_is_gone_is_done);
    arena_free(arena);
    file_tree_remove(root, NULL, NULL);
    return check_done();
}
