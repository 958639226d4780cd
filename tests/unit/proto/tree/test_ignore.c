#include "proto/tree/ignore.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/file_tree.h"
#include "proto/tree/wildcard.h"
#include "tests/check.h"

enum { PATH_BYTES = 300 };

static char root[PATH_BYTES];

static void begin(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/ignore-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(root) != NULL);
}

static void end(void)
{
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
}

static const char *in_root(const char *name)
{
    static char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_root(name), "we");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void stars_stay_within_a_part(void)
{
    CHECK(wildcard_matches("*.py", "a.py"));
    CHECK(!wildcard_matches("*.py", "a/b.py"));
    CHECK(wildcard_matches("a/*/c", "a/b/c"));
    CHECK(!wildcard_matches("a/*/c", "a/b/x/c"));
    CHECK(!wildcard_matches("a?b", "a/b"));
    CHECK(!wildcard_matches("a[/]b", "a/b"));
    CHECK(wildcard_matches("*", "anything"));
    CHECK(!wildcard_matches("*", "a/b"));
    CHECK(wildcard_matches("*a*", "bab"));
}

static void two_stars_pass_parts(void)
{
    CHECK(wildcard_matches("**/c", "c"));
    CHECK(wildcard_matches("**/c", "a/b/c"));
    CHECK(wildcard_matches("a/**/c", "a/c"));
    CHECK(wildcard_matches("a/**/c", "a/x/y/c"));
    CHECK(wildcard_matches("a/**", "a/b/c"));
    CHECK(!wildcard_matches("a/**", "a"));
    CHECK(!wildcard_matches("a**c", "a/c"));
    CHECK(!wildcard_matches("a/**/c", "ab/c"));
}

static void brackets_have_ranges_and_classes(void)
{
    CHECK(wildcard_matches("[a-c]x", "bx"));
    CHECK(!wildcard_matches("[a-c]x", "dx"));
    CHECK(wildcard_matches("[!a-c]x", "dx"));
    CHECK(wildcard_matches("[^a-c]x", "dx"));
    CHECK(wildcard_matches("[]]", "]"));
    CHECK(wildcard_matches("[[:digit:]]", "7"));
    CHECK(!wildcard_matches("[[:digit:]]", "x"));
    CHECK(wildcard_matches("[a\\]]", "]"));
    CHECK(wildcard_matches("[a-]", "-"));
    CHECK(!wildcard_matches("[ab", "a"));
    CHECK(wildcard_matches("\\*", "*"));
    CHECK(!wildcard_matches("\\*", "a"));
    CHECK(!wildcard_matches("a\\", "a"));
}

/* Without an end of the search this would take longer than the universe. */
static void many_stars_end_soon(void)
{
    char path[2001];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    CHECK(!wildcard_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", path));
}

static bool is_left_out(const char *path, bool is_folder)
{
    struct arena *arena = arena_new();
    const struct ignore *rules = NULL;
    const int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(ignore_read(arena, NULL, fd, "", &rules, NULL) == HT_OK);
    const bool has = ignore_has(rules, path, is_folder);
    close(fd);
    arena_free(arena);
    return has;
}

static void the_last_rule_of_a_file_decides(void)
{
    begin();
    CHECK(!is_left_out("a", false)); /* no file yet */
    write_file(".gitignore", "# no rule\n"
                             "*.log\n"
                             "!keep.log\r\n"
                             "/top\n"
                             "out/\n"
                             "a/b\n"
                             "blank   \n"
                             "kept\\ \n"
                             "\\#name\n"
                             "\\!name");
    CHECK(is_left_out("x.log", false));
    CHECK(is_left_out("a/x.log", false));
    CHECK(!is_left_out("a/keep.log", false));
    CHECK(is_left_out("top", false));
    CHECK(!is_left_out("a/top", false));
    CHECK(is_left_out("x/out", true));
    CHECK(!is_left_out("x/out", false));
    CHECK(is_left_out("a/b", false));
    CHECK(!is_left_out("x/a/b", false));
    CHECK(is_left_out("blank", false));
    CHECK(is_left_out("kept ", false));
    CHECK(is_left_out("#name", false));
    CHECK(is_left_out("!name", false));
    end();
}

static void folders_above_have_rules_up_to_git(void)
{
    struct arena *arena = arena_new();
    const struct ignore *rules = NULL;
    const char *path = NULL;
    begin();
    CHECK(mkdir(in_root("repo"), 0700) == 0);
    CHECK(mkdir(in_root("repo/.git"), 0700) == 0);
    CHECK(mkdir(in_root("repo/a"), 0700) == 0);
    CHECK(mkdir(in_root("repo/a/b"), 0700) == 0);
    write_file(".gitignore", "*\n"); /* not of the repository */
    write_file("repo/.gitignore", "*.log\n/a/b/big\n");
    write_file("repo/a/.gitignore", "!x.log\n");
    char *folder = arena_strdup(arena, in_root("repo/a/b"));
    CHECK(ignore_read_above(arena, folder, &rules, &path, NULL) == HT_OK);
    CHECK_TEXT(path, "a/b");
    CHECK(ignore_has(rules, "a/b/y.log", false));
    CHECK(!ignore_has(rules, "a/b/x.log", false));
    CHECK(ignore_has(rules, "a/b/big", false));
    CHECK(!ignore_has(rules, "a/b/other", false));
    folder = arena_strdup(arena, in_root("repo"));
    CHECK(ignore_read_above(arena, folder, &rules, &path, NULL) == HT_OK);
    CHECK(rules == NULL);
    CHECK_TEXT(path, "");
    arena_free(arena);
    end();
}

static void no_link_and_no_folder_has_rules(void)
{
    begin();
    write_file("rules", "*\n");
    CHECK(symlink("rules", in_root(".gitignore")) == 0);
    CHECK(!is_left_out("a", false));
    CHECK(unlink(in_root(".gitignore")) == 0);
    CHECK(mkdir(in_root(".gitignore"), 0700) == 0);
    CHECK(!is_left_out("a", false));
    end();
}

int main(void)
{
    RUN(stars_stay_within_a_part);
    RUN(two_stars_pass_parts);
    RUN(brackets_have_ranges_and_classes);
    RUN(many_stars_end_soon);
    RUN(the_last_rule_of_a_file_decides);
    RUN(folders_above_have_rules_up_to_git);
    RUN(no_link_and_no_folder_has_rules);
    return check_done();
}
