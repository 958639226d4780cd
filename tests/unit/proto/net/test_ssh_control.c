/* Where masters of ssh have their sockets. */
#include "tests/check.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/net/ssh_control.h"
#include "tests/lib/own_folder.h"

static struct arena *arena;
static const char *path;
static struct ht_error err;

static enum ht_status ask(const char *folder, const char *host)
{
    err = (struct ht_error){.text = ""};
    return ssh_control_path(arena, folder, host, &path, &err);
}

static void the_folder_is_made_for_this_user_alone(void)
{
    struct stat about;
    CHECK(ask("control", "me@login") == HT_OK);
    CHECK_TEXT(path, "control/%C");
    CHECK(stat("control", &about) == 0 && (about.st_mode & 0777) == 0700);
    CHECK(ask("control", "login") == HT_OK);
}

static void a_folder_that_others_can_use_is_refused(void)
{
    CHECK(mkdir("open", 0700) == 0 && chmod("open", 0750) == 0);
    CHECK(ask("open", "login") == HT_PRECONDITION);
    CHECK_TEXT(err.text, "open is not a folder of this user alone (mode 0700)");
    CHECK(mkdir("own", 0700) == 0 && symlink("own", "link") == 0);
    CHECK(ask("link", "login") == HT_PRECONDITION);
    CHECK(ask("no/such/folder", "login") == HT_IO ||
          ask("no/such/folder", "login") == HT_NOT_FOUND);
}

static void a_folder_that_is_too_long_is_refused(void)
{
    char name[64];
    memset(name, 'a', sizeof name);
    name[49] = '\0';
    CHECK(ask(name, "login") == HT_OK); /* 49, and 58 of ssh: 107 */
    name[49] = 'a';
    name[50] = '\0';
    CHECK(ask(name, "login") == HT_INVALID);
    CHECK(strstr(err.text, "too long for sockets of ssh") != NULL);
}

static void what_is_an_option_is_no_host(void)
{
    CHECK(ask("control", "") == HT_INVALID);
    CHECK(ask("control", "-oProxyCommand=true") == HT_INVALID);
    CHECK_TEXT(err.text, "\"-oProxyCommand=true\" is no host");
}

static void the_usual_folder_is_the_environments(void)
{
    char here[PATH_MAX];
    /* Short enough: this folder may be deep. */
    char folder[] = "/tmp/ht-XXXXXX";
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(mkdtemp(folder) != NULL);
    setenv("HYPERTUNE_SSH_DIR", folder, 1);
    CHECK(ask(NULL, "login") == HT_OK);
    CHECK(strncmp(path, folder, strlen(folder)) == 0);
    CHECK(rmdir(folder) == 0);
}

int main(void)
{
    own_folder_enter();
    arena = arena_new();
    RUN(the_folder_is_made_for_this_user_alone);
    RUN(a_folder_that_others_can_use_is_refused);
    RUN(a_folder_that_is_too_long_is_refused);
    RUN(what_is_an_option_is_no_host);
    RUN(the_usual_folder_is_the_environments);
    arena_free(arena);
    return check_done();
}
