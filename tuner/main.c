/* main.c - hypertuned. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "proto/base/log.h"
#include "proto/doc/json.h"
#include "tuner/base/heap.h"
#include "tuner/offline.h"
#include "tuner/options.h"
#include "tuner/server.h"

enum { EXIT_OWNED = 5, EXIT_USAGE = 2 };

/* The main thread reads them; every other thread inherits the mask. */
static void block_signals(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGCHLD);
    sigaddset(&blocked, SIGALRM);
    sigaddset(&blocked, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

/* Ten thousand connections need as many descriptors. */
static void set_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* A reason may quote a damaged file or an argument. */
static void complain(const struct ht_error *err)
{
    struct text line = {0};
    text_puts(&line, "hypertuned: ");
    text_escape(&line, err->text);
    text_puts(&line, "\n");
    fputs(line.data, stderr);
    text_free(&line);
}

int main(int argc, char *argv[])
{
    struct options options;
    struct text shown = {0};
    struct ht_error err;
    if (offline_is_asked(argc, argv)) {
        json_init();
        return offline_run(argc, argv, getenv("HT_FAIL"));
    }
    const struct flags_source source = {argc, argv, getenv};
    if (options_read(&source, &options, &shown, &err) != HT_OK) {
        complain(&err);
        return EXIT_USAGE;
    }
    if (shown.len > 0) {
        fputs(shown.data, stdout);
        text_free(&shown);
        return 0;
    }
    log_set_stamped(true);
    if (options.verbose)
        log_set_level(LOG_DEBUG);
    json_init();
    block_signals();
    set_limits();
    heap_begin();
    memory_reserve();
    enum ht_status status = server_run(&options, getenv("HT_FAIL"), &err);
    if (status == HT_OK)
        return 0;
    complain(&err);
    return status == HT_CONFLICT ? EXIT_OWNED : EXIT_FAILURE;
}
