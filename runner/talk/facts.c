#include "runner/talk/facts.h"

#include "proto/base/token.h"
#include "proto/base/utf8.h"
#include "runner/attempt/outputs.h"
#include "runner/base/json.h"

enum {
    MOST_CHANGES = 64 * 1024, /* bytes of them that are sent */
    LEAST_PIECE = 1024        /* of them, however slow the link */
};

/* Its code is in a folder of this machine; an image has its own, and a runner
 * of containers starts nothing else. */
static bool is_process(const struct attempt *attempt)
{
    return attempt->order->replicas[0].image == NULL &&
           !attempt->engine->images;
}

struct facts facts_find(struct probes *probes, struct arena *arena,
                        const struct attempt *attempt, int64_t now_ms)
{
    const struct replica_order *master = &attempt->order->replicas[0];
    struct facts facts = {.git = {.known = true}, .python = {.known = true}};
    if (is_process(attempt)) {
        if (master->workdir != NULL)
            facts.git = git_commit_ask(probes, arena, master->workdir,
                                       attempt->began_ms, now_ms);
        facts.python = python_facts_ask(probes, arena, attempt->place.site,
                                        attempt->order, master, now_ms);
    }
    facts.whole = facts.git.known && facts.python.known;
    return facts;
}

static void put_images(struct text *out, const struct attempt *attempt)
{
    const struct engine_facts known = attempt->engine->facts(&attempt->place);
    if (!known.known || known.images == NULL)
        return;
    bool any = false;
    for (size_t i = 0; i < attempt->order->n_replicas; i++) {
        if (known.images[i] == NULL)
            continue;
        if (!any)
            json_open(out, "images");
        any = true;
        json_put_string(out, attempt->order->replicas[i].name, known.images[i]);
    }
    if (any)
        json_close(out);
}

static void put_gpus(struct text *out, const struct attempt *attempt)
{
    bool any = false;
    for (size_t i = 0; i < attempt->placement.n; i++) {
        const struct strings *own = &attempt->placement.replicas[i].gpus;
        for (size_t k = 0; k < own->n; k++) {
            if (!any)
                json_open_list(out, "gpus");
            any = true;
            json_put_string(out, NULL, own->items[k]);
        }
    }
    if (any)
        json_close_list(out);
}

/* The hash is of all bytes that were read, also where fewer are sent. */
static void put_git(struct text *out, const struct git_commit_answer *git)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    if (!git->known || git->commit == NULL)
        return;
    json_open(out, "git");
    json_put_string(out, "commit", git->commit);
    if (git->branch != NULL)
        json_put_string(out, "branch", git->branch);
    json_put_bool(out, "dirty", git->dirty);
    if (git->len > 0) {
        token_sha256(hash, git->changes, git->len);
        token_hex(hex, hash);
        json_open(out, "changes");
        json_put_string(out, "sha256", hex);
        json_put_int(out, "bytes", (int64_t)git->len);
        if (git->more)
            json_put_bool(out, "more", true);
        json_close(out);
    }
    json_close(out);
}

static void put_python(struct text *out, const struct python_facts *python)
{
    if (python->version == NULL)
        return;
    json_open(out, "python");
    json_put_string(out, "version", python->version);
    json_put_string(out, "program", python->program);
    json_open(out, "packages");
    for (size_t i = 0; i < python->packages.n; i++)
        json_put_string(out, python->packages.items[i].name,
                        python->packages.items[i].value);
    json_close(out);
    json_close(out);
}

int64_t facts_changes(const struct facts *facts)
{
    const size_t len = facts->git.known ? facts->git.len : 0;
    return len < MOST_CHANGES ? (int64_t)len : MOST_CHANGES;
}

/* Files may have bytes that JSON cannot have; each becomes one other byte, so
 * that places stay the same. */
static void put_changes(struct text *out, const struct git_commit_answer *git,
                        size_t from, size_t end, size_t most)
{
    struct text clean = {0};
    for (size_t i = from, n; i < end && clean.len < most; i += n) {
        n = utf8_sequence(git->changes + i, end - i);
        if (n > 0 && git->changes[i] != '\0')
            text_append(&clean, git->changes + i, n);
        else
            text_puts(&clean, "?");
        n = n > 0 ? n : 1;
    }
    json_put_string(out, "changes", text_string(&clean));
    if (from > 0)
        json_put_int(out, "changesFrom", (int64_t)from);
    text_free(&clean);
}

void facts_put(struct text *out, const struct attempt *attempt,
               const struct facts *facts, const char *host, size_t most)
{
    struct arena *arena = arena_new();
    json_open(out, "facts");
    put_images(out, attempt);
    put_gpus(out, attempt);
    put_git(out, &facts->git);
    put_python(out, &facts->python);
    const char *output =
        outputs_here(arena, attempt->place.site, attempt->order);
    if (output != NULL && !attempt->place.site->far)
        json_put_string(out, "output", output);
    json_put_string(out, "host", host);
    json_close(out);
    const int64_t end = facts_changes(facts);
    if (attempt->changes_sent < end)
        put_changes(out, &facts->git, (size_t)attempt->changes_sent,
                    (size_t)end, most > LEAST_PIECE ? most : LEAST_PIECE);
    arena_free(arena);
}
