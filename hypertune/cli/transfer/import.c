/* hypertune import FILE: what other programs, or other servers, found out. */
#include "hypertune/cli/transfer/import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "hypertune/cli/frame/commands.h"

static const char sqlite_mark[] = "SQLite format 3";

char *cli_import_read(struct cli *cli, const char *path, size_t most,
                      size_t *len)
{
    FILE *file = fopen(path, "re");
    struct text content = {0};
    char block[16384];
    size_t n = 1;
    while (file != NULL && content.len <= most &&
           (n = fread(block, 1, sizeof block, file)) > 0)
        text_append(&content, block, n);
    const bool failed = file == NULL || ferror(file);
    const int cause = errno;
    if (file != NULL)
        fclose(file);
    char *copy = arena_strndup(cli->arena, content.data ? content.data : "",
                               content.len);
    *len = content.len;
    text_free(&content);
    if (failed)
        cli_fail(cli, CLI_ABSENT, "cannot read %s: %s", path, strerror(cause));
    else if (*len > most)
        cli_fail(cli, CLI_USAGE, "%s is over %zu MiB", path, most >> 20);
    return failed || *len > most ? NULL : copy;
}

static bool is_sqlite(const char *path)
{
    char begin[sizeof sqlite_mark] = "";
    FILE *file = fopen(path, "re");
    const size_t n =
        file != NULL ? fread(begin, 1, sizeof sqlite_mark, file) : 0;
    if (file != NULL)
        fclose(file);
    return n == sizeof sqlite_mark &&
           memcmp(begin, sqlite_mark, sizeof sqlite_mark) == 0;
}

/* Of trials alone nobody knows what was searched. */
static bool is_table(const char *path)
{
    static const char *const ends[] = {".csv", ".jsonl", ".json"};
    const size_t len = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (len > strlen(ends[i]) &&
            strcmp(path + len - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

int cli_import(struct cli *cli)
{
    const struct words *words = &cli->args.words;
    struct stat info;
    const char *path = words->items[0];
    if (stat(path, &info) != 0)
        return cli_fail(cli, CLI_ABSENT, "cannot read %s: %s", path,
                        strerror(errno));
    const bool optuna = !S_ISDIR(info.st_mode) && is_sqlite(path);
    if (words->n == 2 && !optuna)
        return cli_fail(cli, CLI_USAGE,
                        "only a database of Optuna has studies to choose "
                        "from, %s is none",
                        path);
    if (S_ISDIR(info.st_mode))
        return cli_import_folder(cli, path);
    if (!optuna && is_table(path))
        return cli_fail(cli, CLI_USAGE,
                        "%s has trials at most, not what was searched; import "
                        "the folder of: hypertune export STUDY -o dir",
                        path);
    return optuna ? cli_import_optuna(cli, path) : cli_import_katib(cli, path);
}
