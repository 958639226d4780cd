#include "hypertune/cli/frame/server.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

static char folder[128];
static struct arena *arena;

static const char *in_folder(const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *content)
{
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file != NULL);
    if (file == NULL)
        return;
    fputs(content, file);
    fclose(file);
}

/* What a living server does: holds an exclusive lock. */
static int hold_lock(void)
{
    int fd = open(in_folder("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    return fd;
}

static void begin(void)
{
    const char *base = getenv("TMPDIR");
    arena = arena_new();
    snprintf(folder, sizeof folder, "%s/cli-server-XXXXXX",
             base != NULL ? base : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
}

static void end(void)
{
    static const char *const names[] = {"lock", "server.json", "start.lock",
                                        "server.log"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(in_folder(names[i]));
    rmdir(folder);
    arena_free(arena);
}

static enum ht_status find(struct cli_server_info *info)
{
    return cli_server_find(arena, folder, info, NULL);
}

static void a_held_lock_makes_server_json_believed(void)
{
    begin();
    struct cli_server_info info;
    write_file("server.json", "{\"http\":\"http://127.0.0.1:9\",\"pid\":1}");
    int fd = hold_lock();
    CHECK(find(&info) == HT_OK);
    CHECK_TEXT(info.url, "http://127.0.0.1:9");
    CHECK_TEXT(info.token_file, in_folder("token"));
    close(fd);
    CHECK(find(&info) == HT_NOT_FOUND);
    end();
}

static void a_lock_file_that_nobody_holds_is_stale(void)
{
    begin();
    struct cli_server_info info;
    write_file("server.json", "{\"http\":\"http://127.0.0.1:9\"}");
    write_file("lock", "");
    CHECK(find(&info) == HT_NOT_FOUND);
    end();
}

static void a_lock_without_server_json_is_a_server_that_starts(void)
{
    begin();
    struct cli_server_info info;
    int fd = hold_lock();
    CHECK(find(&info) == HT_NOT_FOUND);
    close(fd);
    end();
}

static void a_note_that_names_another_machine_is_refused(void)
{
    begin();
    struct cli_server_info info;
    int fd = hold_lock();
    write_file("server.json", "{\"http\":\"http://192.0.2.7:8470\"}");
    CHECK(find(&info) == HT_CORRUPT);
    write_file("server.json", "{\"http\":\"http://127.example.org:80\"}");
    CHECK(find(&info) == HT_CORRUPT);
    write_file("server.json", "not json");
    CHECK(find(&info) == HT_CORRUPT);
    close(fd);
    end();
}

static void a_link_in_place_of_server_json_is_not_followed(void)
{
    begin();
    struct cli_server_info info;
    int fd = hold_lock();
    write_file("server.log", "{\"http\":\"http://127.0.0.1:9\"}");
    CHECK(symlink(in_folder("server.log"), in_folder("server.json")) == 0);
    CHECK(find(&info) == HT_NOT_FOUND);
    close(fd);
    end();
}

static void the_state_folder_follows_the_environment(void)
{
    begin();
    struct cli_server_variables variables = {"/s", "/x", "/h"};
    CHECK_TEXT(cli_server_state_folder(arena, &variables), "/s");
    variables.own = NULL;
    CHECK_TEXT(cli_server_state_folder(arena, &variables), "/x/hypertune");
    variables.state = "relative";
    CHECK_TEXT(cli_server_state_folder(arena, &variables),
               "/h/.local/state/hypertune");
    variables.home = NULL;
    CHECK(cli_server_state_folder(arena, &variables) == NULL);
    end();
}

static void folders_are_made_private(void)
{
    begin();
    struct stat info;
    const char *deep = in_folder("a/b/c");
    CHECK(cli_server_make_folder(arena, deep, NULL) == HT_OK);
    CHECK(stat(deep, &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK(cli_server_make_folder(arena, deep, NULL) == HT_OK);
    rmdir(deep);
    rmdir(in_folder("a/b"));
    write_file("a/file", "");
    CHECK(cli_server_make_folder(arena, in_folder("a/file/x"), NULL) == HT_IO);
    struct ht_error err;
    CHECK(cli_server_make_folder(arena, in_folder("a/file"), &err) == HT_IO);
    CHECK(strstr(err.text, "Not a directory") != NULL);
    unlink(in_folder("a/file"));
    rmdir(in_folder("a"));
    end();
}

int main(void)
{
    RUN(a_held_lock_makes_server_json_believed);
    RUN(a_lock_file_that_nobody_holds_is_stale);
    RUN(a_lock_without_server_json_is_a_server_that_starts);
    RUN(a_note_that_names_another_machine_is_refused);
    RUN(a_link_in_place_of_server_json_is_not_followed);
    RUN(the_state_folder_follows_the_environment);
    RUN(folders_are_made_private);
    return check_done();
}
