/* walk.c - prints the paths that proto/tree/walk.c finds in the folder of the
 * first argument by the rules of code, one a line. */

#include <stdio.h>

#include "proto/tree/walk.h"

int main(int argc, char **argv)
{
    struct arena *arena = arena_new();
    const struct walk_rules rules = {.code = true};
    struct walked walked;
    struct ht_error err;
    if (argc != 2)
        return 2;
    if (walk_folder(arena, argv[1], &rules, &walked, &err) != HT_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < walked.manifest.n; i++)
        puts(walked.manifest.entries[i].path);
    arena_free(arena);
    return 0;
}
