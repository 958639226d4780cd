#include "hypertune/cli/study/tail.h"

#include <string.h>

#include "hypertune/cli/study/trial.h"

enum { LOG_TAIL = 2000, LOG_LINES = 8 };

void cli_tail_say(struct cli *cli, const char *study, const char *stream)
{
    char *data = arena_strdup(
        cli->arena, cli_trial_log_tail(cli, study, "1", stream, LOG_TAIL));
    char *start = data + strlen(data);
    for (int lines = 0; start > data; start--) {
        if (start[-1] == '\n' && ++lines == LOG_LINES)
            break;
    }
    if (*start == '\0')
        return;
    cli_say(cli, "last lines of %s:", stream);
    char *rest = NULL;
    for (char *line = strtok_r(start, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        cli_say(cli, "  %s", line);
}
