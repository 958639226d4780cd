/* main.c - `hypertune`, the command line. */

#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include <curl/curl.h>

#include "hypertune/cli/frame/commands.h"
#include "proto/doc/json.h"

int main(int argc, char *argv[])
{
    json_init();
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct cli cli;
    cli_init(&cli, environ);
    int code = cli_main(&cli, argc - 1, argv + 1);
    cli_fini(&cli);
    curl_global_cleanup();
    return code;
}
