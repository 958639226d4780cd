#include "hypertune/cli/frame/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/file_tree.h"
#include "tests/check.h"

enum { PATH_BYTES = 256, MARK_STEP = 2, BIG_BYTES = 700001 };

static char root[PATH_BYTES];

static const char *in_root(const char *name)
{
    static char paths[4][2 * PATH_BYTES];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *content)
{
    FILE *file = fopen(in_root(name), "w");
    CHECK(file != NULL);
    if (file == NULL)
        return;
    fputs(content, file);
    fclose(file);
}

static const char *content_of(const char *name)
{
    static char content[PATH_BYTES];
    FILE *file = fopen(in_root(name), "r");
    if (file == NULL)
        return "(absent)";
    size_t n = fread(content, 1, sizeof content - 1, file);
    content[n] = '\0';
    fclose(file);
    return content;
}

/* from/a, from/deep/b, links out of it, a pipe, and a folder with a mark. */
static void begin(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/cli-tree-XXXXXX",
             base != NULL ? base : "/tmp");
    CHECK(mkdtemp(root) != NULL);
    CHECK(mkdir(in_root("from"), 0700) == 0);
    CHECK(mkdir(in_root("from/deep"), 0700) == 0);
    CHECK(mkdir(in_root("from/1"), 0700) == 0);
    CHECK(mkdir(in_root("outside"), 0700) == 0);
    write_file("from/a", "one");
    write_file("from/deep/b", "two");
    write_file("from/1/mark", "");
    write_file("from/1/token", "secret");
    write_file("outside/c", "mine");
    CHECK(symlink("../outside", in_root("from/link")) == 0);
    CHECK(symlink("../outside/c", in_root("from/deep/link")) == 0);
    CHECK(mkfifo(in_root("from/pipe"), 0600) == 0);
}

static void end(void)
{
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
    CHECK(access(root, F_OK) != 0);
}

static enum ht_status copy(struct tree_copy *how, struct ht_error *err)
{
    char from[2 * PATH_BYTES];
    snprintf(from, sizeof from, "%s", in_root("from"));
    return tree_copy(from, in_root("to"), how, err);
}

static void files_and_folders_are_copied_and_links_are_not(void)
{
    begin();
    struct tree_copy how = {.mark = NULL};
    CHECK(copy(&how, NULL) == HT_OK);
    CHECK_TEXT(content_of("to/a"), "one");
    CHECK_TEXT(content_of("to/deep/b"), "two");
    CHECK_TEXT(content_of("to/1/token"), "secret");
    CHECK(access(in_root("to/link"), F_OK) != 0);
    CHECK(access(in_root("to/deep/link"), F_OK) != 0);
    CHECK(access(in_root("to/pipe"), F_OK) != 0);
    CHECK(how.left_out == 3);
    CHECK(how.files == 4);
    CHECK(how.bytes == 12);
    end();
}

static void a_marked_folder_stays_out(void)
{
    begin();
    struct tree_copy how = {.mark = "mark"};
    CHECK(copy(&how, NULL) == HT_OK);
    CHECK(access(in_root("to/1"), F_OK) != 0);
    CHECK_TEXT(content_of("to/deep/b"), "two");
    end();
}

static void what_is_there_stays_unless_it_is_to_be_replaced(void)
{
    begin();
    struct ht_error err;
    struct tree_copy how = {.mark = "mark"};
    CHECK(mkdir(in_root("to"), 0700) == 0);
    write_file("to/a", "older");
    CHECK(copy(&how, &err) == HT_EXISTS);
    CHECK(strstr(err.text, "a is there already") != NULL);
    CHECK_TEXT(content_of("to/a"), "older");
    CHECK(access(in_root("to/.hypertune-part"), F_OK) != 0);
    how = (struct tree_copy){.mark = "mark", .replace = true};
    CHECK(copy(&how, NULL) == HT_OK);
    CHECK_TEXT(content_of("to/a"), "one");
    end();
}

static void a_link_in_the_target_leads_nowhere(void)
{
    begin();
    struct tree_copy how = {.replace = true};
    CHECK(mkdir(in_root("to"), 0700) == 0);
    CHECK(symlink("../outside/c", in_root("to/a")) == 0);
    CHECK(copy(&how, NULL) == HT_OK);
    CHECK_TEXT(content_of("outside/c"), "mine");
    CHECK_TEXT(content_of("to/a"), "one");
    end();
    begin();
    CHECK(mkdir(in_root("to"), 0700) == 0);
    CHECK(symlink("../outside", in_root("to/deep")) == 0);
    CHECK(copy(&how, NULL) == HT_IO);
    CHECK(access(in_root("outside/b"), F_OK) != 0);
    end();
}

static void count_calls(const struct tree_copy *how)
{
    int *calls = how->context;
    ++*calls;
}

static void progress_is_told_while_a_file_is_copied(void)
{
    begin();
    int calls = 0;
    FILE *file = fopen(in_root("from/big"), "w");
    CHECK(file != NULL);
    for (int i = 0; file != NULL && i < BIG_BYTES; i++)
        fputc('x', file);
    if (file != NULL)
        fclose(file);
    struct tree_copy how = {.progress = count_calls, .context = &calls};
    CHECK(copy(&how, NULL) == HT_OK);
    CHECK(calls >= MARK_STEP);
    struct stat info;
    CHECK(stat(in_root("to/big"), &info) == 0 && info.st_size == BIG_BYTES);
    end();
}

static void what_is_not_there_is_not_found(void)
{
    begin();
    struct ht_error err;
    struct tree_copy how = {.mark = NULL};
    CHECK(tree_copy(in_root("none"), in_root("to"), &how, &err) ==
          HT_NOT_FOUND);
    CHECK(tree_copy(in_root("from/link"), in_root("to"), &how, &err) ==
          HT_NOT_FOUND);
    CHECK(access(in_root("to"), F_OK) != 0);
    end();
}

static void moved_files_are_gone_where_they_were(void)
{
    begin();
    struct tree_copy how = {.moves = true};
    CHECK(chmod(in_root("from/a"), 0666) == 0);
    const mode_t mask = umask(027);
    CHECK(copy(&how, NULL) == HT_OK);
    umask(mask);
    struct stat info;
    CHECK_TEXT(content_of("to/a"), "one");
    CHECK_TEXT(content_of("to/deep/b"), "two");
    CHECK(stat(in_root("to/a"), &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK(access(in_root("from/a"), F_OK) != 0);
    CHECK(how.files == 4 && how.left_out == 3);
    write_file("from/a", "another");
    how = (struct tree_copy){.moves = true};
    CHECK(copy(&how, NULL) == HT_EXISTS);
    CHECK_TEXT(content_of("to/a"), "one");
    how = (struct tree_copy){.moves = true, .replace = true};
    CHECK(copy(&how, NULL) == HT_OK);
    CHECK_TEXT(content_of("to/a"), "another");
    end();
}

int main(void)
{
    RUN(files_and_folders_are_copied_and_links_are_not);
    RUN(a_marked_folder_stays_out);
    RUN(what_is_there_stays_unless_it_is_to_be_replaced);
    RUN(a_link_in_the_target_leads_nowhere);
    RUN(progress_is_told_while_a_file_is_copied);
    RUN(what_is_not_there_is_not_found);
    RUN(moved_files_are_gone_where_they_were);
    return check_done();
}
