#include "runner/pods/shim_maps.h"

#include <stdio.h>

#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/own_folder.h"

static void a_volume_has_the_files_of_all_maps(void)
{
    struct text out = {0};
    const struct shim_maps maps = {.n = 2, .names = {"a-0", "a-1"}};
    shim_maps_put_volume(&out, &maps);
    CHECK_TEXT(text_string(&out),
               "{\"name\":\"hypertune-bin\",\"projected\":{\"defaultMode\":365,"
               "\"sources\":[{\"configMap\":{\"name\":\"a-0\"}},"
               "{\"configMap\":{\"name\":\"a-1\"}}]}}");
    text_free(&out);
}

static void check_unread(const char *words)
{
    struct arena *arena = arena_new();
    struct shim_maps maps = {.n = 9};
    struct ht_error err;
    CHECK(shim_maps_ensure(NULL, "n", "shim", arena, &maps, &err) == HT_IO);
    CHECK(strstr(err.text, words) != NULL);
    CHECK(maps.n == 9);
    arena_free(arena);
}

static void a_program_that_cannot_be_used_is_named(void)
{
    own_folder_enter();
    check_unread("cannot read shim for pods: No such file");
    CHECK(disk_write(".", "shim", "x", 1, 0700, NULL) == HT_OK);
    check_unread("/hypertune-shim-loader for pods: ");
    static char bytes[4000001];
    CHECK(disk_write(".", "hypertune-shim-loader", bytes, 48577, 0700, NULL) ==
          HT_OK);
    check_unread("/hypertune-shim-loader for pods: ");
    CHECK(disk_write(".", "shim", bytes, sizeof bytes, 0700, NULL) == HT_OK);
    check_unread("/shim for pods: ");
}

int main(void)
{
    RUN(a_volume_has_the_files_of_all_maps);
    RUN(a_program_that_cannot_be_used_is_named);
    return check_done();
}
