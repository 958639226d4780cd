/* Any bytes as what a container engine says: a refusal, a pull's stream, a
 * registry's credentials. Words of it are shown on one line without control
 * bytes.
 *
 * fuzz-with: runner */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "runner/docker/docker.h"
#include "runner/docker/pull_progress.h"
#include "runner/docker/registry_auth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            abort();
}

static void refuse(struct arena *arena, const char *text, size_t len)
{
    static const long codes[] = {400, 404, 409, 500};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct ht_error err = {0};
        if (docker_refusal(arena, codes[i], text, len, &err) == HT_OK)
            abort();
        check_line(err.text);
    }
}

/* One document a line, as the engine sends them; each is due in its turn. */
static void pull(struct arena *arena, const char *text, size_t len)
{
    static struct pull_progress progress; /* too large for a stack */
    int64_t now_ms = 10000;
    memset(&progress, 0, sizeof progress);
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        const size_t n = end == NULL ? len - at : (size_t)(end - text) - at;
        struct diag diag;
        struct text line = {0};
        diag_init(&diag, arena, "engine", text + at, n);
        const struct node *item = node_read_json(arena, text + at, n, &diag);
        if (item != NULL &&
            pull_progress_take(&progress, item, now_ms += 3000, &line))
            check_line(line.data);
        if (progress.n > PULL_LAYERS)
            abort();
        text_free(&line);
        at += n + 1;
    }
}

static void credentials(struct arena *arena, const char *text)
{
    size_t len;
    const char *bytes = registry_auth_decode(arena, text, &len);
    if (bytes != NULL && bytes[len] != '\0')
        abort();
    if (registry_auth_host(arena, text)[0] == '\0' && text[0] != '/')
        abort();
    check_line(docker_clean_words(arena, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_init();
    struct arena *arena = arena_new();
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    credentials(arena, text);
    text = realloc(text, size > 0 ? size : 1); /* exact: overreads are seen */
    refuse(arena, text, size);
    pull(arena, text, size);
    free(text);
    arena_free(arena);
    return 0;
}
