/* runner/mirror/look.h: what is new is sent once and in order, and nothing that
 * a trial has made into something else. */
#include "runner/mirror/look.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static char root[PATH_MAX];
static struct arena *arena;
static struct look *look;
static struct text sent; /* since the last round() */
static int fd;

static bool note(void *context, const struct frame *frame)
{
    const int len = frame->len < 20 ? (int)frame->len : 20;
    const char *data = frame->data != NULL ? frame->data : "";
    (void)context;
    if (frame->kind == FRAME_SOME)
        text_printf(&sent, "%s@%d:%.*s ", frame->path, (int)frame->number, len,
                    data);
    else
        text_printf(&sent, "%s%s=%.*s ", frame->kind == FRAME_GONE ? "-" : "",
                    frame->path, len, data);
    return true;
}

static const char *at(const char *path)
{
    return arena_printf(arena, "%s/%s", root, path);
}

static void put(const char *path, const char *text)
{
    char *folder = arena_strdup(arena, at(path));
    char *name = strrchr(folder, '/');
    *name++ = '\0';
    CHECK(disk_make_folder(folder, NULL) == HT_OK);
    CHECK(disk_write(folder, name, text, strlen(text), 0600, NULL) == HT_OK);
}

static void append(const char *path, const char *text)
{
    const int file = open(at(path), O_WRONLY | O_APPEND | O_CREAT, 0600);
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

static const char *look_once(enum look_result result)
{
    text_clear(&sent);
    CHECK(look_round(look) == result);
    return text_string(&sent);
}

static void begin(void)
{
    arena = arena_new();
    runner_fixture_folder(root);
    fd = open(root, O_RDONLY | O_DIRECTORY);
    look = look_new(fd, note, NULL);
}

static void end(void)
{
    look_free(look);
    close(fd);
    text_free(&sent);
    arena_free(arena);
}

static void growth_is_sent_once(void)
{
    begin();
    put("1/1/1/m/reports.jsonl", "one\n");
    look_watch(look, "1/1/1", NAMES_ATTEMPT, "");
    CHECK_TEXT(look_once(LOOK_ALL), "1/1/1/m/reports.jsonl@0:one\n ");
    CHECK_TEXT(look_once(LOOK_ALL), "");
    append("1/1/1/m/reports.jsonl", "two\n");
    CHECK_TEXT(look_once(LOOK_ALL), "1/1/1/m/reports.jsonl@4:two\n ");
    put("1/1/1/m/reports.jsonl", "another one\n");
    CHECK_TEXT(look_once(LOOK_ALL), "1/1/1/m/reports.jsonl@0: "
                                    "1/1/1/m/reports.jsonl@0:another one\n ");
    look_forget(look, "1/1/1");
    append("1/1/1/m/reports.jsonl", "x");
    CHECK_TEXT(look_once(LOOK_ALL), "");
    end();
}

static void what_the_runner_has_is_continued(void)
{
    begin();
    put("1/1/1/m/reports.jsonl", "one\ntwo\n");
    put("1/1/1/m/stdout.0.log", "new");
    put("1/1/1/m/shim.json", "{}");
    put("1/1/1/m/exit.json", "{1}");
    look_watch(look, "1/1/1", NAMES_ATTEMPT, "");
    look_have(look, "1/1/1/m/reports.jsonl", 4, "one\n", 4);
    look_have(look, "1/1/1/m/stdout.0.log", 3, "old", 3);
    look_have(look, "1/1/1/m/shim.json", 2, "{}", 2);
    look_have(look, "1/1/1/m/exit.json", 3, "{0}", 3);
    look_have(look, "2/2/2/m/exit.json", 3, "{0}", 3);
    CHECK_TEXT(look_once(LOOK_ALL), "1/1/1/m/reports.jsonl@4:two\n "
                                    "1/1/1/m/stdout.0.log@0: "
                                    "1/1/1/m/stdout.0.log@0:new "
                                    "1/1/1/m/exit.json={1} ");
    end();
}

static void an_end_comes_after_all_results(void)
{
    char *large = calloc(1, 3 << 20);
    memset(large, 'x', (3 << 20) - 1);
    begin();
    put("batches/b/0/ask.2", "");
    put("1/1/1/m/reports.jsonl", large);
    put("1/1/1/m/exit.json", "{}");
    look_watch(look, "batches/b", NAMES_BATCH, "");
    look_watch(look, "1/1/1", NAMES_ATTEMPT, "");
    for (int i = 0; i < 2; i++)
        CHECK(strchr(look_once(LOOK_MORE), '=') == NULL);
    const char *last = look_once(LOOK_ALL);
    const char *exit = strstr(last, "1/1/1/m/exit.json={} ");
    CHECK(exit != NULL && strcmp(exit, "1/1/1/m/exit.json={} "
                                       "batches/b/0/ask.2= ") == 0);
    end();
    free(large);
}

static void a_file_of_the_job_itself_grows_too(void)
{
    begin();
    put("1/1/1/m/copy/out.csv", "1,2\n");
    put("1/1/1/m/copy/other.csv", "1,2\n");
    put("1/1/1/m/exit.json", "{}");
    look_watch(look, "1/1/1", NAMES_ATTEMPT, "m/copy/out.csv");
    CHECK_TEXT(look_once(LOOK_ALL), "1/1/1/m/copy/out.csv@0:1,2\n "
                                    "1/1/1/m/exit.json={} ");
    end();
}

static void a_log_that_was_removed_is_said(void)
{
    begin();
    put("1/1/1/m/stdout.0.log", "a");
    look_watch(look, "1/1/1", NAMES_ATTEMPT, "");
    CHECK_TEXT(look_once(LOOK_ALL), "1/1/1/m/stdout.0.log@0:a ");
    CHECK(unlink(at("1/1/1/m/stdout.0.log")) == 0);
    CHECK_TEXT(look_once(LOOK_ALL), "-1/1/1/m/stdout.0.log= ");
    CHECK_TEXT(look_once(LOOK_ALL), "");
    end();
}

static void links_and_pipes_are_not_read(void)
{
    begin();
    put("secret/exit.json", "secret");
    put("1/1/1/m/shim.json", "{}");
    CHECK(symlink("../../../../secret/exit.json", at("1/1/1/m/exit.json")) ==
          0);
    CHECK(symlink("/etc/passwd", at("1/1/1/m/reports.jsonl")) == 0);
    CHECK(symlink(at("secret"), at("1/1/1/n")) == 0);
    CHECK(mkfifo(at("1/1/1/m/output.metrics"), 0600) == 0);
    CHECK(mkdir(at("1/1/1/m/stdout.0.log"), 0700) == 0);
    look_watch(look, "1/1/1", NAMES_ATTEMPT, "n/exit.json");
    CHECK_TEXT(look_once(LOOK_ALL), "1/1/1/m/shim.json={} ");
    end();
}

static bool refuse(void *context, const struct frame *frame)
{
    (void)context;
    (void)frame;
    return false;
}

static void a_closed_connection_ends_it(void)
{
    begin();
    look_free(look);
    look = look_new(fd, refuse, NULL);
    put("1/1/1/m/shim.json", "{}");
    look_watch(look, "1/1/1", NAMES_ATTEMPT, "");
    CHECK(look_round(look) == LOOK_CLOSED);
    end();
}

int main(void)
{
    runner_fixture_init();
    RUN(growth_is_sent_once);
    RUN(what_the_runner_has_is_continued);
    RUN(an_end_comes_after_all_results);
    RUN(a_file_of_the_job_itself_grows_too);
    RUN(a_log_that_was_removed_is_said);
    RUN(links_and_pipes_are_not_read);
    RUN(a_closed_connection_ends_it);
    runner_fixture_fini();
    return check_done();
}
