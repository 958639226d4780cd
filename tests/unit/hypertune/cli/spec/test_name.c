#include "hypertune/cli/spec/spec.h"

#include "tests/check.h"

static void a_file_gives_its_stem(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(cli_name_of_file(arena, "jobs/digits.yaml", "/home/a/jobs"),
               "digits");
    CHECK_TEXT(cli_name_of_file(arena, "my job.v2.yml", "/x"), "my-job.v2");
    CHECK_TEXT(cli_name_of_file(arena, "7.yaml", "/x"), "study-7");
    CHECK_TEXT(cli_name_of_file(arena, "plain", "/x"), "plain");
    arena_free(arena);
}

static void a_common_file_name_gives_the_folder(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(cli_name_of_file(arena, "spec.yaml", "/home/a/mnist"), "mnist");
    CHECK_TEXT(cli_name_of_file(arena, "../spec.json", "/home/a b"), "a-b");
    CHECK_TEXT(cli_name_of_file(arena, "-", "/srv/net"), "net");
    CHECK_TEXT(cli_name_of_file(arena, "spec.yaml", "/"), "study");
    CHECK_TEXT(cli_name_of_file(arena, "-", "/a/it's a \"dir\" \xC3\xBC"),
               "it-s-a-dir");
    CHECK_TEXT(cli_name_of_file(arena, "-", "/a/\xC3\xBC"), "study");
    CHECK_TEXT(cli_name_of_file(arena, "-", "/a/--x- y-"), "study---x-y");
    arena_free(arena);
}

static const char *of_command(struct arena *arena, const char *a, const char *b,
                              const char *c)
{
    const char *items[] = {a, b, c};
    struct strings command = {.n = c != NULL   ? 3
                                   : b != NULL ? 2
                                               : 1,
                              .items = items};
    return cli_name_of_command(arena, &command);
}

static void a_command_gives_its_script(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(of_command(arena, "python", "src/train.py", NULL), "train");
    CHECK_TEXT(of_command(arena, "python3", "-m", "pkg.fit"), "pkg.fit");
    CHECK_TEXT(of_command(arena, "/opt/bin/xgb", "--fast", NULL), "xgb");
    CHECK_TEXT(of_command(arena, "./run.sh", NULL, NULL), "run");
    arena_free(arena);
}

static void long_names_are_bounded(void)
{
    struct arena *arena = arena_new();
    char path[300];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    CHECK(strlen(cli_name_of_file(arena, path, "/x")) == 64);
    arena_free(arena);
}

static void an_image_is_named_by_its_last_part(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(cli_name_of_image(arena, "gcr.io/team/train:7"), "train");
    CHECK_TEXT(cli_name_of_image(arena, "localhost:5000/py@sha256:0"), "py");
    CHECK_TEXT(cli_name_of_image(arena, "busybox"), "busybox");
    arena_free(arena);
}

int main(void)
{
    RUN(a_file_gives_its_stem);
    RUN(a_common_file_name_gives_the_folder);
    RUN(a_command_gives_its_script);
    RUN(long_names_are_bounded);
    RUN(an_image_is_named_by_its_last_part);
    return check_done();
}
