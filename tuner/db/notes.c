#include "tuner/db/notes.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/db/metadata.h"

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

bool notes_is_tag(const char *word)
{
    const size_t n = strlen(word);
    if (n > NOTES_MOST_TAG || !is_plain(word[0]))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!is_plain(word[i]) && strchr("_.-", word[i]) == NULL)
            return false;
    return true;
}

struct strings notes_tags_split(struct arena *arena, const char *text)
{
    /* Every second byte begins a word at most. */
    const char **words =
        arena_alloc(arena, strlen(text) / 2 + 1, sizeof *words);
    size_t n = 0;
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        const size_t len = strcspn(text, " ");
        words[n++] = arena_strndup(arena, text, len);
        text += len;
    }
    return (struct strings){.n = n, .items = words};
}

static bool includes(const struct strings *words, const char *word)
{
    for (size_t i = 0; words != NULL && i < words->n; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *notes_tags_join(struct arena *arena, const struct strings *words,
                            const struct strings *more,
                            const struct strings *less)
{
    const struct strings *const both[] = {words, more};
    const size_t most = words->n + (more != NULL ? more->n : 0);
    const char **kept = arena_alloc(arena, most + 1, sizeof *kept);
    struct strings all = {.items = kept};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; both[k] != NULL && i < both[k]->n; i++)
            if (!includes(less, both[k]->items[i]) &&
                !includes(&all, both[k]->items[i]))
                kept[all.n++] = both[k]->items[i];
    qsort(kept, all.n, sizeof *kept, compare);
    struct text text = {0};
    text_puts(&text, "");
    for (size_t i = 0; i < all.n; i++)
        text_printf(&text, "%s%s", i > 0 ? " " : "", kept[i]);
    const char *joined = arena_strndup(arena, text.data, text.len);
    text_free(&text);
    return joined;
}

enum ht_status db_notes_get(struct db *db, struct arena *arena,
                            const struct notes_name *name, const char **value,
                            struct ht_error *err)
{
    const struct metadata_row row = {
        .trial = name->trial, .ns = NOTES_NS, .key = name->key};
    const char *found;
    const enum ht_status status =
        db_metadata_get(db, arena, name->study, &row, &found, err);
    if (status == HT_OK)
        *value = found != NULL ? found : "";
    return status;
}
