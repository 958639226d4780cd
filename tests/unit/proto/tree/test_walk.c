#include "proto/tree/walk.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/file_tree.h"
#include "proto/base/text.h"
#include "tests/check.h"

enum { PATH_BYTES = 300 };

static char root[PATH_BYTES];
static struct arena *arena;

static const char *in_root(const char *name)
{
    return arena_printf(arena, "%s/%s", root, name);
}

static void begin(void)
{
    const char *base = getenv("TMPDIR");
    arena = arena_new();
    snprintf(root, sizeof root, "%s/walk-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(root) != NULL);
}

static void end(void)
{
    CHECK(file_tree_remove(root, NULL, NULL) == HT_OK);
    arena_free(arena);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_root(name), "we");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(chmod(in_root(name), 0644) == 0);
}

static void make_large(const char *name, off_t bytes)
{
    const int fd =
        open(in_root(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(fd >= 0 && ftruncate(fd, bytes) == 0 && close(fd) == 0);
}

static const char *manifest_of(const struct walked *walked)
{
    struct text out = {0};
    tree_manifest_write(&walked->manifest, &out);
    return text_take(&out, arena);
}

static const struct walk_rules plain = {0}, code = {.code = true};

/* The hash of "a" and of nothing but zeroes are those of sha256sum. */
static void a_folder_becomes_its_manifest(void)
{
    struct walked walked;
    begin();
    CHECK(mkdir(in_root("d"), 0700) == 0);
    CHECK(mkdir(in_root("empty"), 0700) == 0);
    write_file("d/a", "a");
    write_file("none", "");
    CHECK(chmod(in_root("none"), 04755) == 0);
    CHECK(symlink("d/a", in_root("link")) == 0);
    CHECK(walk_folder(arena, root, &plain, &walked, NULL) == HT_OK);
    CHECK(walked.files == 2 && walked.bytes == 1 && walked.n_left_out == 0);
    CHECK_TEXT(manifest_of(&walked),
               "{\"entries\":[{\"path\":\"d/a\",\"mode\":420,\"bytes\":1,"
               "\"chunks\":[\"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b"
               "9807785afee48bb\"]},{\"path\":\"empty\",\"folder\":true},"
               "{\"path\":\"link\",\"link\":\"d/a\"},{\"path\":\"none\","
               "\"mode\":493,\"bytes\":0,\"chunks\":[]}]}");
    end();
}

static void a_large_file_has_chunks_of_a_mebibyte(void)
{
    struct walked walked;
    char hex[TOKEN_TEXT_BYTES];
    begin();
    make_large("zeroes", 2 * TREE_CHUNK + 1);
    CHECK(walk_folder(arena, root, &plain, &walked, NULL) == HT_OK);
    const struct tree_entry *entry = &walked.manifest.entries[0];
    CHECK(entry->n_chunks == 3);
    token_hex(hex, entry->chunks[1].bytes);
    CHECK_TEXT(hex, "30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af90"
                    "9fcb58");
    token_hex(hex, entry->chunks[2].bytes);
    CHECK_TEXT(hex, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617"
                    "afa01d");
    end();
}

static void what_leads_out_or_is_no_file_is_left_out(void)
{
    struct walked walked;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    begin();
    write_file("a", "a");
    CHECK(mkfifo(in_root("fifo"), 0600) == 0);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s/s", root);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(symlink("/etc/passwd", in_root("absolute")) == 0);
    CHECK(symlink("../x", in_root("up")) == 0);
    CHECK(symlink("a/../../x", in_root("behind")) == 0);
    CHECK(symlink(".", in_root("here")) == 0);
    CHECK(walk_folder(arena, root, &plain, &walked, NULL) == HT_OK);
    CHECK(walked.manifest.n == 2 && walked.n_left_out == 3);
    CHECK_TEXT(walked.manifest.entries[0].path, "a");
    CHECK_TEXT(walked.manifest.entries[1].path, "here");
    close(fd);
    end();
}

static void code_is_without_git_and_our_own_data(void)
{
    struct walked walked;
    begin();
    CHECK(mkdir(in_root(".git"), 0700) == 0);
    CHECK(mkdir(in_root("data"), 0700) == 0);
    CHECK(mkdir(in_root("out"), 0700) == 0);
    write_file(".git/config", "");
    write_file("data/hypertune.db", "");
    write_file("data/admin-token", "");
    write_file("out/x.log", "");
    write_file(".gitignore", "*.log\n");
    write_file("a.py", "");
    CHECK(walk_folder(arena, root, &code, &walked, NULL) == HT_OK);
    CHECK(walked.manifest.n == 3 && walked.git);
    CHECK_TEXT(walked.manifest.entries[0].path, ".gitignore");
    CHECK_TEXT(walked.manifest.entries[1].path, "a.py");
    CHECK_TEXT(walked.manifest.entries[2].path, "out");
    CHECK(walk_folder(arena, root, &plain, &walked, NULL) == HT_OK);
    CHECK(walked.manifest.n == 6 && !walked.git);
    end();
}

static void files_of_the_rule_are_left_out(void)
{
    const struct walk_rules rules = {.without = "bin/shim"};
    struct walked walked;
    begin();
    CHECK(mkdir(in_root("bin"), 0700) == 0);
    write_file("bin/shim", "a");
    write_file("bin/shim-loader", "b");
    write_file("bin/tool", "c");
    write_file("shim", "d");
    CHECK(walk_folder(arena, root, &rules, &walked, NULL) == HT_OK);
    CHECK(walked.files == 2);
    CHECK(walk_is_without(rules.without, "bin/shim-loader"));
    CHECK(!walk_is_without(rules.without, "bin/tool"));
    CHECK(!walk_is_without(NULL, "bin/shim"));
    end();
}

static void a_folder_that_is_too_large_names_its_largest_parts(void)
{
    const struct walk_rules rules = {.code = true, .most_bytes = 3 << 20};
    struct walked walked;
    struct ht_error err;
    begin();
    CHECK(mkdir(in_root("sets"), 0700) == 0);
    CHECK(mkdir(in_root("sets/raw"), 0700) == 0);
    make_large("sets/raw/1", 5 << 20);
    make_large("sets/raw/2", 4 << 20);
    make_large("sets/list", 1000);
    make_large("model", 2 << 20);
    make_large("a.py", 10);
    CHECK(walk_folder(arena, root, &rules, &walked, &err) == HT_TOO_LARGE);
    CHECK(strstr(err.text, "has 11.0 MB, more than 3") != NULL);
    CHECK_TEXT(walked.largest[0].path, "sets/raw");
    CHECK(walked.largest[0].bytes == 9 << 20);
    CHECK_TEXT(walked.largest[1].path, "model");
    CHECK_TEXT(walked.largest[2].path, "a.py");
    CHECK(walked.largest[3].path == NULL);
    write_file(".gitignore", "/sets/raw/\n");
    CHECK(walk_folder(arena, root, &rules, &walked, &err) == HT_OK);
    const struct walk_rules few = {.most_entries = 2};
    CHECK(walk_folder(arena, root, &few, &walked, &err) == HT_TOO_LARGE);
    CHECK(strstr(err.text, "more than 2 files") != NULL);
    end();
}

static void a_name_outside_of_utf8_is_an_error(void)
{
    struct walked walked;
    struct ht_error err;
    begin();
    write_file("\xff", "");
    CHECK(walk_folder(arena, root, &plain, &walked, &err) == HT_INVALID);
    CHECK(walk_folder(arena, in_root("no"), &plain, &walked, &err) ==
          HT_NOT_FOUND);
    end();
}

static atomic_bool stopped;

static void *write_on(void *path)
{
    for (char text[] = "0"; !atomic_load(&stopped); text[0] ^= 1) {
        const int fd = open(path, O_WRONLY | O_CLOEXEC);
        (void)!pwrite(fd, text, 1, 0);
        close(fd);
    }
    return NULL;
}

/* However the two meet, what the walk returns is one moment of the file: here
 * a writer never pauses, so only the error is right. */
static void a_file_that_changes_is_an_error(void)
{
    struct walked walked;
    struct ht_error err;
    pthread_t writer;
    begin();
    make_large("model", 64 << 20);
    atomic_store(&stopped, false);
    CHECK(pthread_create(&writer, NULL, write_on,
                         arena_strdup(arena, in_root("model"))) == 0);
    CHECK(walk_folder(arena, root, &plain, &walked, &err) == HT_CONFLICT);
    CHECK(strstr(err.text, "model changed while it was read") != NULL);
    atomic_store(&stopped, true);
    pthread_join(writer, NULL);
    CHECK(walk_folder(arena, root, &plain, &walked, &err) == HT_OK);
    end();
}

int main(void)
{
    RUN(a_folder_becomes_its_manifest);
    RUN(a_large_file_has_chunks_of_a_mebibyte);
    RUN(what_leads_out_or_is_no_file_is_left_out);
    RUN(code_is_without_git_and_our_own_data);
    RUN(files_of_the_rule_are_left_out);
    RUN(a_folder_that_is_too_large_names_its_largest_parts);
    RUN(a_name_outside_of_utf8_is_an_error);
    RUN(a_file_that_changes_is_an_error);
    return check_done();
}
