/* bench_sync FOLDER - how often a second this disk confirms a small write: the
 * bound for reports that are acknowledged one by one. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char *argv[])
{
    static const char page[4096];
    char path[4096];
    snprintf(path, sizeof path, "%s/bench_sync.tmp", argc > 1 ? argv[1] : ".");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        perror(path);
        return 1;
    }
    const double start = now_s();
    int writes = 0;
    double took;
    do {
        if (write(fd, page, sizeof page) != (ssize_t)sizeof page ||
            fdatasync(fd) != 0)
            break;
        writes++;
        took = now_s() - start;
    } while (took < 2.0);
    took = now_s() - start;
    printf("fdatasync_per_s=%.0f\n", writes / took);
    close(fd);
    return unlink(path) != 0;
}
