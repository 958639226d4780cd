#include "runner/reports/masked_secrets.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "runner/base/credentials.h"
#include "runner/base/folder.h"

enum { MOST_PIECES = 1024 };

static void add_piece(struct masked_secrets *secrets, const char *bytes,
                      size_t len)
{
    if (len < MASKED_LEAST || secrets->n == MOST_PIECES)
        return;
    char *piece = ht_xcalloc(len + 1, 1);
    memcpy(piece, bytes, len);
    secrets->pieces =
        ht_xrealloc(secrets->pieces, secrets->n + 1, sizeof(char *));
    secrets->pieces[secrets->n++] = piece;
}

static void add_value(struct masked_secrets *secrets, const char *value)
{
    while (*value != '\0') {
        size_t len = strcspn(value, "\r\n");
        if (len > MASKED_MOST)
            len = MASKED_MOST;
        add_piece(secrets, value, len);
        value += len;
        value += strspn(value, "\r\n");
    }
}

static bool is_secret(const struct order *order, const char *name)
{
    for (size_t i = 0; i < order->n_secrets; i++) {
        if (strcmp(order->secrets[i].name, name) == 0)
            return true;
    }
    return false;
}

static void add_credentials(struct masked_secrets *secrets, struct arena *arena,
                            const char *file)
{
    const struct strings keys = credentials_secrets(arena, file);
    for (size_t i = 0; i < keys.n; i++)
        add_value(secrets, keys.items[i]);
}

void masked_secrets_load(struct masked_secrets *secrets,
                         const struct order *order, const char *replica_folder,
                         const char *credentials)
{
    if (secrets->loaded)
        return;
    struct arena *arena = arena_new();
    struct launch launch;
    if (folder_read_launch(arena, replica_folder, &launch, NULL) == HT_OK) {
        secrets->loaded = true;
        for (size_t i = 0; i < launch.env.n; i++) {
            if (is_secret(order, launch.env.items[i].name))
                add_value(secrets, launch.env.items[i].value);
        }
        add_credentials(secrets, arena, credentials);
    }
    arena_free(arena);
}

void masked_secrets_fini(struct masked_secrets *secrets)
{
    for (size_t i = 0; i < secrets->n; i++)
        free(secrets->pieces[i]);
    free(secrets->pieces);
    *secrets = (struct masked_secrets){.n = 0};
}

/* The longest beginning of the piece, but not all of it, at the end. */
static size_t count_begun(const char *piece, const char *bytes, size_t len)
{
    size_t n = strlen(piece) - 1;
    if (n > len)
        n = len;
    while (n > 0 && memcmp(bytes + len - n, piece, n) != 0)
        n--;
    return n;
}

/* Where the piece begins that the cut goes through, else the cut. */
static size_t move_before(const char *piece, const char *bytes, size_t len,
                          size_t cut)
{
    const size_t n = strlen(piece);
    const size_t from = cut > n ? cut - n + 1 : 0;
    const size_t to = len - cut > n ? cut + n - 1 : len;
    const char *found = memmem(bytes + from, to - from, piece, n);
    return found != NULL && (size_t)(found - bytes) < cut
               ? (size_t)(found - bytes)
               : cut;
}

size_t masked_secrets_whole(const struct masked_secrets *secrets,
                            const char *bytes, size_t len)
{
    size_t cut = len;
    for (size_t i = 0; i < secrets->n; i++) {
        const size_t whole = len - count_begun(secrets->pieces[i], bytes, len);
        cut = whole < cut ? whole : cut;
    }
    for (size_t i = 0; cut > 0 && cut < len && i < secrets->n;) {
        const size_t before = move_before(secrets->pieces[i], bytes, len, cut);
        i = before < cut ? 0 : i + 1; /* the new place may cut another */
        cut = before;
    }
    return cut;
}

static void mark(const char *piece, const char *bytes, size_t len, bool marks[])
{
    const size_t n = strlen(piece);
    const char *at = bytes, *end = bytes + len;
    while ((at = memmem(at, (size_t)(end - at), piece, n)) != NULL) {
        memset(marks + (at - bytes), true, n);
        at += n;
    }
}

size_t masked_secrets_blank(const struct masked_secrets *secrets, char *bytes,
                            size_t len)
{
    static const char blank[] = "***";
    if (secrets->n == 0)
        return len;
    bool *marks = ht_xcalloc(len + 1, sizeof *marks);
    for (size_t i = 0; i < secrets->n; i++)
        mark(secrets->pieces[i], bytes, len, marks);
    size_t kept = 0;
    for (size_t i = 0; i < len; i++) {
        if (!marks[i]) {
            bytes[kept++] = bytes[i];
        } else if (i == 0 || !marks[i - 1]) {
            memcpy(bytes + kept, blank, sizeof blank - 1);
            kept += sizeof blank - 1;
        }
    }
    free(marks);
    return kept;
}
