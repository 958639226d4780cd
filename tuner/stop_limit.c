#include "tuner/stop_limit.h"

#include <signal.h>
#include <unistd.h>

static void on_alarm(int sig)
{
    static const char line[] = "error server.stuck while=stopping\n";
    (void)sig;
    ssize_t n = write(STDERR_FILENO, line, sizeof line - 1);
    (void)n;
    _exit(1);
}

/* All that was acknowledged is on disk, so a hard exit is safe, unlike a stop
 * that hangs. */
void stop_limit_set(unsigned seconds)
{
    struct sigaction action = {.sa_handler = on_alarm};
    sigset_t unblocked;
    sigemptyset(&unblocked);
    sigaddset(&unblocked, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
    alarm(seconds);
}

void stop_limit_lift(void)
{
    alarm(0);
}
