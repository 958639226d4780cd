#include "proto/tree/manifest.h"

#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "tests/check.h"

#define HEX_A "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define FILE_A "\"mode\":420,\"bytes\":3,\"chunks\":[\"" HEX_A "\"]}"
#define TREE(entries) "{\"entries\":[" entries "]}"

static enum ht_status read_text(const char *text, struct ht_error *err)
{
    struct tree_manifest manifest;
    struct arena *arena = arena_new();
    /* Exactly its bytes, so that a sanitizer sees a step behind them. */
    const size_t len = strlen(text);
    char *bytes = malloc(len > 0 ? len : 1);
    memcpy(bytes, text, len);
    *err = (struct ht_error){0};
    const enum ht_status status =
        tree_manifest_read(arena, bytes, len, &manifest, err);
    free(bytes);
    arena_free(arena);
    return status;
}

static void a_manifest_is_read_and_written_as_it_was(void)
{
    static const char text[] =
        TREE("{\"path\":\"a \\\"\\\\\\n\\u0001/b\"," FILE_A
             ",{\"path\":\"empty\",\"folder\":true}"
             ",{\"path\":\"l\",\"link\":\"empty/../x\"}");
    static const char good[] =
        TREE("{\"path\":\"a \\\"\\\\\\n\\u0001/b\"," FILE_A
             ",{\"path\":\"empty\",\"folder\":true}"
             ",{\"path\":\"l\",\"link\":\"./empty\"}");
    struct ht_error err;
    struct tree_manifest manifest;
    struct text out = {0};
    struct arena *arena = arena_new();
    CHECK(read_text(text, &err) == HT_INVALID);
    CHECK(tree_manifest_read(arena, good, sizeof good - 1, &manifest, &err) ==
          HT_OK);
    CHECK(manifest.n == 3);
    CHECK_TEXT(manifest.entries[0].path, "a \"\\\n\x01/b");
    CHECK(manifest.entries[0].mode == 0644 && manifest.entries[0].bytes == 3);
    CHECK(manifest.entries[0].n_chunks == 1);
    CHECK(manifest.entries[1].kind == TREE_FOLDER);
    CHECK_TEXT(manifest.entries[2].target, "./empty");
    tree_manifest_write(&manifest, &out);
    CHECK_TEXT(out.data, good);
    text_free(&out);
    arena_free(arena);
}

static void a_tree_is_named_by_its_manifest(void)
{
    char name[TREE_NAME];
    struct tree_hash hash;
    struct ht_error err;
    tree_manifest_name("abc", 3, name);
    CHECK_TEXT(name, HEX_A);
    CHECK(tree_name_read(HEX_A, &hash, &err) == HT_OK);
    CHECK(tree_name_read(HEX_A "0", &hash, &err) == HT_INVALID);
    CHECK(tree_name_read("BA78", &hash, &err) == HT_INVALID);
    CHECK(tree_name_read("../../../../etc/passwd", &hash, &err) == HT_INVALID);
}

static void a_file_is_cut_every_mebibyte(void)
{
    CHECK(tree_chunks(0) == 0 && tree_chunks(1) == 1);
    CHECK(tree_chunks(TREE_CHUNK) == 1 && tree_chunks(TREE_CHUNK + 1) == 2);
    CHECK(tree_chunk_bytes(TREE_CHUNK + 1, 0) == TREE_CHUNK);
    CHECK(tree_chunk_bytes(TREE_CHUNK + 1, 1) == 1);
}

static void what_is_allowed_at_the_edges_is_read(void)
{
    static const char *const good[] = {
        TREE(""),
        TREE("{\"path\":\"...\",\"mode\":0,\"bytes\":0,\"chunks\":[]}"),
        /* "a-b" lies between "a" and "a/b" and is below neither. */
        TREE("{\"path\":\"a-b\",\"folder\":true},{\"path\":\"a/b\","
             "\"folder\":true}"),
        TREE("{\"path\":\"a\",\"folder\":true},{\"path\":\"aa\","
             "\"folder\":true}"),
        TREE("{\"path\":\"a/b/l\",\"link\":\"../../x\"}"),
        TREE("{\"path\":\"a/l\",\"link\":\".././b//c/\"}"),
        TREE("{\"path\":\"l\",\"link\":\"..a\"}"),
        TREE("{\"path\":\"\xc3\xa9\x7f\",\"folder\":true}"),
    };
    struct ht_error err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (read_text(good[i], &err) != HT_OK)
            CHECK_TEXT(err.text, good[i]);
}

static void what_is_not_canonical_or_not_safe_is_refused(void)
{
    static const struct {
        const char *text, *why; /* a part of the sentence */
    } bad[] = {
        {"", "begins with"},
        {"{\"entries\":[", "entries[0]: {\"path\""},
        {TREE("") "\n", "entries[0]"},
        {"{\"entries\": []}", "begins with"},
        {TREE("{\"path\":\"\"," FILE_A), "empty"},
        {TREE("{\"path\":\"/a\"," FILE_A), "relative"},
        {TREE("{\"path\":\"a/\"," FILE_A), "relative"},
        {TREE("{\"path\":\"a//b\"," FILE_A), "relative"},
        {TREE("{\"path\":\"./a\"," FILE_A), "relative"},
        {TREE("{\"path\":\"a/../../b\"," FILE_A), "(\"a/../../b\"): a path"},
        {TREE("{\"path\":\"\\u0000\"," FILE_A), "NUL"},
        {TREE("{\"path\":\"a\\u0000b\"," FILE_A), "NUL"},
        {TREE("{\"path\":\"a\\/b\"," FILE_A), "escape"},
        {TREE("{\"path\":\"\\u0041\"," FILE_A), "escape"},
        {TREE("{\"path\":\"\\u000a\"," FILE_A), "escape"},
        {TREE("{\"path\":\"\\u001F\"," FILE_A), "escape"},
        {TREE("{\"path\":\"a\nb\"," FILE_A), "control character"},
        {TREE("{\"path\":\"\xff\"," FILE_A), "UTF-8"},
        {TREE("{\"path\":\"a\"," FILE_A ",{\"path\":\"a\"," FILE_A),
         "entries[1] (\"a\"): entries are sorted"},
        {TREE("{\"path\":\"b\"," FILE_A ",{\"path\":\"a\"," FILE_A), "sorted"},
        {TREE("{\"path\":\"a\"," FILE_A ",{\"path\":\"a/b\"," FILE_A),
         "entries[1] (\"a/b\"): it lies below"},
        {TREE("{\"path\":\"a\",\"link\":\"x\"},{\"path\":\"a-\"," FILE_A
              ",{\"path\":\"a/b\"," FILE_A),
         "entries[2] (\"a/b\"): it lies below"},
        {TREE("{\"path\":\"a\",\"folder\":true},{\"path\":\"a/b\"," FILE_A),
         "it lies below"},
        {TREE("{\"path\":\"a\",\"folder\":false}"), "\"folder\":true"},
        {TREE("{\"path\":\"a\",\"mode\":2048,\"bytes\":0,\"chunks\":[]}"),
         "permission bits"},
        {TREE("{\"path\":\"a\",\"mode\":0420,\"bytes\":0,\"chunks\":[]}"),
         "permission bits"},
        {TREE("{\"path\":\"a\",\"mode\":-1,\"bytes\":0,\"chunks\":[]}"),
         "permission bits"},
        {TREE("{\"path\":\"a\",\"bytes\":0,\"mode\":420,\"chunks\":[]}"),
         "\"mode\""},
        {TREE("{\"path\":\"a\",\"mode\":420,\"bytes\":0,\"chunks\":[\"" HEX_A
              "\"]}"),
         "0 chunks are expected"},
        {TREE("{\"path\":\"a\",\"mode\":420,\"bytes\":1,\"chunks\":[]}"),
         "1 chunks are expected"},
        {TREE("{\"path\":\"a\",\"mode\":420,\"bytes\":1048577,\"chunks\":"
              "[\"" HEX_A "\"]}"),
         "2 chunks are expected"},
        {TREE("{\"path\":\"a\",\"mode\":420,\"bytes\":9223372036854775807,"
              "\"chunks\":[]}"),
         "bytes is a size"},
        {TREE("{\"path\":\"a\",\"mode\":420,\"bytes\":70368744177664,"
              "\"chunks\":[]}"),
         "67108864 chunks are expected"},
        {TREE("{\"path\":\"a\",\"mode\":420,\"bytes\":1,\"chunks\":[\"BA7816bf"
              "8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"]}"),
         "lower-case hex"},
        {TREE("{\"path\":\"a\",\"link\":\"\"}"), "empty"},
        {TREE("{\"path\":\"a\",\"link\":\"/etc/passwd\"}"), "leads out"},
        {TREE("{\"path\":\"a\",\"link\":\"..\"}"), "may lead out"},
        {TREE("{\"path\":\"a/b\",\"link\":\"../../x\"}"), "may lead out"},
        {TREE("{\"path\":\"a/b\",\"link\":\"c/../../x\"}"), "may lead out"},
        {TREE("{\"path\":\"a/b\",\"link\":\".././../x\"}"), "may lead out"},
        /* d is a link to the tree's root, so d/.. is its parent. */
        {TREE("{\"path\":\"a/d\",\"link\":\"..\"},{\"path\":\"l\",\"link\":"
              "\"a/d/../x\"}"),
         "entries[1] (\"l\"): the link may lead out"},
        {TREE("{\"path\":\"a\",\"folder\":true},"), "entries[1]"},
        {TREE("{\"path\":\"a\",\"folder\":true,\"mode\":1}"), "entries[0]"},
    };
    struct ht_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const enum ht_status status = read_text(bad[i].text, &err);
        CHECK(status == HT_INVALID);
        if (strstr(err.text, bad[i].why) == NULL)
            CHECK_TEXT(err.text, bad[i].why);
    }
}

static void limits_are_checked(void)
{
    struct text text = {0};
    struct ht_error err;
    text_puts(&text, "{\"entries\":[{\"path\":\"");
    for (size_t i = 0; i < TREE_MOST_PART; i++)
        text_puts(&text, "a");
    const size_t behind = text.len;
    text_puts(&text, "\",\"folder\":true}]}");
    CHECK(read_text(text.data, &err) == HT_OK);
    text.len = behind;
    text_puts(&text, "a\",\"folder\":true}]}");
    CHECK(read_text(text.data, &err) == HT_TOO_LARGE);
    text.len = behind;
    for (size_t i = 0; i < TREE_MOST_PATH / 2; i++)
        text_puts(&text, "/b");
    text_puts(&text, "\",\"folder\":true}]}");
    CHECK(read_text(text.data, &err) == HT_TOO_LARGE);
    CHECK(strstr(err.text, "4096") != NULL);
    text_free(&text);
}

static enum ht_status count(void *context, const struct tree_entry *entry,
                            struct ht_error *err)
{
    int *left = context;
    CHECK(entry->path != NULL);
    return (*left)-- > 0 ? HT_OK : ht_fail(err, HT_NOT_FOUND, "enough");
}

static void a_visit_ends_where_the_visitor_says(void)
{
    static const char text[] =
        TREE("{\"path\":\"a\"," FILE_A ",{\"path\":\"b\"," FILE_A
             ",{\"path\":\"b\"");
    struct arena *arena = arena_new();
    struct ht_error err;
    int left = 1;
    CHECK(tree_manifest_visit(arena, text, sizeof text - 1, count, &left,
                              &err) == HT_NOT_FOUND);
    left = 5;
    CHECK(tree_manifest_visit(arena, text, sizeof text - 1, count, &left,
                              &err) == HT_INVALID);
    CHECK(left == 3);
    arena_free(arena);
}

int main(void)
{
    RUN(a_manifest_is_read_and_written_as_it_was);
    RUN(a_tree_is_named_by_its_manifest);
    RUN(a_file_is_cut_every_mebibyte);
    RUN(what_is_allowed_at_the_edges_is_read);
    RUN(what_is_not_canonical_or_not_safe_is_refused);
    RUN(limits_are_checked);
    RUN(a_visit_ends_where_the_visitor_says);
    return check_done();
}
