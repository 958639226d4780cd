#include "tuner/datadir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "tests/check.h"

static char base[128];

static char *under(const char *name)
{
    struct text path = {0};
    text_printf(&path, "%s/%s", base, name);
    return path.data;
}

static unsigned mode_of(const char *name)
{
    struct stat found;
    char *path = under(name);
    unsigned mode = stat(path, &found) == 0 ? found.st_mode & 07777 : 0;
    free(path);
    return mode;
}

static bool exists(const char *name)
{
    return mode_of(name) != 0;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    char *path = under(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    fchmod(fd, mode);
    close(fd);
    free(path);
}

static void in_new_folder(void (*test)(const char *path))
{
    const char *temp = getenv("TMPDIR");
    snprintf(base, sizeof base, "%s/datadir-XXXXXX", temp ? temp : "/tmp");
    CHECK(mkdtemp(base) != NULL);
    char *path = under("a/data");
    test(path);
    free(path);
    char remove[160];
    snprintf(remove, sizeof remove, "rm -rf '%s'", base);
    CHECK(system(remove) == 0);
}

static void opens_private(const char *path)
{
    struct datadir dir;
    CHECK(datadir_open(path, &dir, NULL) == HT_OK);
    CHECK(dir.path[0] == '/');
    CHECK(mode_of("a/data") == 0700);
    CHECK(mode_of("a/data/token") == 0600);
    CHECK(mode_of("a/data/runner-token") == 0600);
    CHECK(mode_of("a/data/lock") == 0600);
    CHECK(mode_of("a/data/runs") == 0700);
    CHECK(mode_of("a/data/backups") == 0700);
    CHECK(strlen(dir.admin_token) == 64);
    CHECK(strcmp(dir.admin_token, dir.runner_token) != 0);
    datadir_close(&dir);
}

static void a_new_folder_is_made_for_its_owner_alone(void)
{
    in_new_folder(opens_private);
}

static void keeps_tokens(const char *path)
{
    struct datadir first, second;
    CHECK(datadir_open(path, &first, NULL) == HT_OK);
    struct datadir opened = first;
    datadir_close(&opened);
    CHECK(datadir_open(path, &second, NULL) == HT_OK);
    CHECK_TEXT(second.admin_token, first.admin_token);
    CHECK_TEXT(second.runner_token, first.runner_token);
    datadir_close(&second);
}

static void tokens_are_made_once(void)
{
    in_new_folder(keeps_tokens);
}

static void refuses_second(const char *path)
{
    struct datadir first, second;
    struct ht_error err;
    char want[300];
    const struct datadir_note note = {"http://h:1", "tcp://h:2", "tcp://h:3", 7,
                                      NULL,         "",          ""};
    CHECK(datadir_open(path, &first, NULL) == HT_OK);
    CHECK(datadir_open(path, &second, &err) == HT_CONFLICT);
    snprintf(want, sizeof want, "another server (pid %ld) owns %s",
             (long)getpid(), first.path);
    CHECK_TEXT(err.text, want);
    CHECK(datadir_announce(&first, &note, NULL) == HT_OK);
    CHECK(mode_of("a/data/server.json") == 0600);
    CHECK(datadir_open(path, &second, &err) == HT_CONFLICT);
    snprintf(want, sizeof want,
             "another server (pid %ld, http=http://h:1) "
             "owns %s",
             (long)getpid(), first.path);
    CHECK_TEXT(err.text, want);
    CHECK(exists("a/data/server.json"));
    datadir_retract(&first);
    CHECK(!exists("a/data/server.json"));
    datadir_close(&first);
    CHECK(datadir_open(path, &second, NULL) == HT_OK);
    datadir_close(&second);
}

static void a_second_server_learns_who_owns_the_folder(void)
{
    in_new_folder(refuses_second);
}

static void refuses_open_modes(const char *path)
{
    struct datadir dir;
    struct ht_error err;
    CHECK(datadir_open(path, &dir, NULL) == HT_OK);
    datadir_close(&dir);
    CHECK(chmod(path, 0750) == 0);
    CHECK(datadir_open(path, &dir, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "chmod 700") != NULL);
    CHECK(chmod(path, 0700) == 0);
    char *token = under("a/data/token");
    CHECK(chmod(token, 0644) == 0);
    CHECK(datadir_open(path, &dir, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "chmod 600") != NULL);
    free(token);
}

static void what_others_may_read_is_refused(void)
{
    in_new_folder(refuses_open_modes);
}

static void refuses_damage(const char *path)
{
    struct datadir dir;
    struct ht_error err;
    CHECK(datadir_open(path, &dir, NULL) == HT_OK);
    datadir_close(&dir);
    write_file("a/data/token", "short\n", 0600);
    CHECK(datadir_open(path, &dir, &err) == HT_PRECONDITION);
    char *token = under("a/data/token"), *target = under("target");
    write_file("target", "x", 0600);
    CHECK(unlink(token) == 0 && symlink(target, token) == 0);
    CHECK(datadir_open(path, &dir, &err) == HT_IO);
    free(token);
    free(target);
}

static void a_damaged_or_linked_token_is_refused(void)
{
    in_new_folder(refuses_damage);
}

static void forgets_old_note(const char *path)
{
    struct datadir dir;
    CHECK(datadir_open(path, &dir, NULL) == HT_OK);
    datadir_close(&dir);
    write_file("a/data/server.json", "{\"http\":\"http://dead:1\"}", 0600);
    CHECK(datadir_open(path, &dir, NULL) == HT_OK);
    CHECK(!exists("a/data/server.json"));
    datadir_close(&dir);
}

static void the_note_of_a_crashed_server_is_removed(void)
{
    in_new_folder(forgets_old_note);
}

static void refuses_file(const char *path)
{
    struct datadir dir;
    struct ht_error err;
    char *parent = under("a");
    CHECK(mkdir(parent, 0700) == 0);
    write_file("a/data", "x", 0600);
    CHECK(datadir_open(path, &dir, &err) == HT_PRECONDITION);
    free(parent);
}

static void a_file_is_no_folder(void)
{
    in_new_folder(refuses_file);
}

int main(void)
{
    json_init();
    RUN(a_new_folder_is_made_for_its_owner_alone);
    RUN(tokens_are_made_once);
    RUN(a_second_server_learns_who_owns_the_folder);
    RUN(what_others_may_read_is_refused);
    RUN(a_damaged_or_linked_token_is_refused);
    RUN(the_note_of_a_crashed_server_is_removed);
    RUN(a_file_is_no_folder);
    return check_done();
}
