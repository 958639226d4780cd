#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "proto/form/native.h"

static const char *guess_command(struct cli *cli)
{
    const char *python =
        cli_variable(cli, "VIRTUAL_ENV") || cli_variable(cli, "CONDA_PREFIX")
            ? "python"
            : "python3";
    if (access("train.py", F_OK) != 0 && access("train.sh", F_OK) == 0)
        return "[sh, train.sh]";
    return arena_printf(cli->arena, "[%s, train.py]", python);
}

int cli_write_spec(struct cli *cli)
{
    const char *path =
        cli->args.words.n == 1 ? cli->args.words.items[0] : "spec.yaml";
    int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | (cli->set.force ? O_TRUNC : O_EXCL);
    int fd = open(path, flags, 0644);
    if (fd < 0 && errno == EEXIST)
        return cli_fail(cli, CLI_CONFLICT,
                        "%s is there already; --force overwrites it", path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(errno));
    struct text spec = {0};
    native_template(guess_command(cli), NULL, &spec);
    fputs(spec.data, file);
    text_free(&spec);
    if (fclose(file) != 0)
        return cli_fail(cli, CLI_REFUSED, "cannot write %s: %s", path,
                        strerror(errno));
    cli_say(cli, "wrote %s; next: edit it, then hypertune check %s", path,
            path);
    return CLI_DONE;
}
