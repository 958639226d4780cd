#include "hypertune/cli/spec/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { NAME_BYTES = 64 };

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Letters, digits, '_', '.' and '-', where one '-' stands for any run of other
 * bytes, starting with a letter: a name that is all digits would be taken for
 * a study's number. */
static const char *tidy(struct arena *arena, const char *base, size_t len)
{
    static const char allowed[] = "-_.0123456789"
                                  "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *name = arena_alloc(arena, NAME_BYTES + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len && n < NAME_BYTES; i++) {
        bool kept = base[i] != '\0' && strchr(allowed, base[i]) != NULL;
        if (kept)
            name[n++] = base[i];
        else if (n > 0 && name[n - 1] != '-')
            name[n++] = '-';
    }
    while (n > 0 && name[n - 1] == '-')
        name[--n] = '\0';
    if (n == 0)
        return "study";
    if (isalpha((unsigned char)name[0]))
        return name;
    return arena_printf(arena, "study-%s", name);
}

static size_t stem_len(const char *base)
{
    const char *dot = strrchr(base, '.');
    return dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
}

const char *cli_name_of_file(struct arena *arena, const char *path,
                             const char *folder)
{
    static const char *const plain[] = {"-", "spec", "study", "job",
                                        "hypertune"};
    const char *base = base_of(path);
    size_t len = stem_len(base);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strlen(plain[i]) == len && strncmp(base, plain[i], len) == 0) {
            const char *above = base_of(folder);
            return tidy(arena, above, strlen(above));
        }
    }
    return tidy(arena, base, len);
}

static bool is_script(const char *word)
{
    static const char *const endings[] = {".py", ".sh", ".R",  ".r",
                                          ".jl", ".pl", ".rb", ".js"};
    size_t len = strlen(word);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (len > n && strcmp(word + len - n, endings[i]) == 0)
            return true;
    }
    return false;
}

const char *cli_name_of_image(struct arena *arena, const char *image)
{
    const char *base = base_of(image);
    return tidy(arena, base, strcspn(base, ":@"));
}

const char *cli_name_of_command(struct arena *arena,
                                const struct strings *command)
{
    for (size_t i = 0; i < command->n; i++) {
        const char *word = command->items[i];
        if (is_script(word)) {
            const char *base = base_of(word);
            return tidy(arena, base, stem_len(base));
        }
        if (strcmp(word, "-m") == 0 && i + 1 < command->n)
            return tidy(arena, command->items[i + 1],
                        strlen(command->items[i + 1]));
    }
    const char *program = command->n > 0 ? base_of(command->items[0]) : "";
    return tidy(arena, program, strlen(program));
}
