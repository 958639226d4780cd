#include "runner/shim/meter.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/tree_use.h"

enum {
    REST = 100,           /* times what a measurement took */
    FIRST_WRITE_MS = 2000 /* after the beginning */
};

/* Of a container, where this process is the first one. */
static const char group_of_container[] = "/sys/fs/cgroup";

static int64_t us_of(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000 + time->tv_usec;
}

static struct rusage of_ended(void)
{
    struct rusage ended;
    getrusage(RUSAGE_CHILDREN, &ended);
    return ended;
}

static int64_t cpu_us_of_ended(void)
{
    const struct rusage ended = of_ended();
    return us_of(&ended.ru_utime) + us_of(&ended.ru_stime);
}

static bool read_use(const struct meter *meter, struct tree_use *use)
{
    if (meter->group != NULL)
        return tree_use_read_group(meter->group, use);
    if (!tree_use_read("/proc", getpid(), use))
        return false;
    use->cpu_us += cpu_us_of_ended();
    return true;
}

static const char *find_group(const struct guest *guest)
{
    struct tree_use use;
    for (size_t i = 0; i < guest->cgroups.n; i++)
        if (tree_use_read_group(guest->cgroups.items[i], &use))
            return guest->cgroups.items[i];
    return getpid() == 1 && tree_use_read_group(group_of_container, &use)
               ? group_of_container
               : NULL;
}

void meter_begin(struct meter *meter, const char *folder,
                 const struct guest *guest)
{
    const int64_t now = clock_monotonic_ms();
    struct tree_use use;
    *meter = (struct meter){.folder = folder,
                            .group = find_group(guest),
                            .due_at = now + USAGE_FIRST_MS,
                            .write_at = now + FIRST_WRITE_MS};
    usage_counter_begin(&meter->counter, now, clock_wall_ms(),
                        meter->group != NULL &&
                                tree_use_read_group(meter->group, &use)
                            ? use.cpu_us
                            : cpu_us_of_ended());
}

static void write_file(struct meter *meter)
{
    struct text out = {0};
    usage_write(&meter->counter.usage, &out);
    (void)disk_replace(meter->folder, FOLDER_USAGE, out.data, out.len,
                       FOLDER_FILE_MODE, NULL);
    text_free(&out);
}

void meter_tick(struct meter *meter, int64_t now)
{
    struct tree_use use;
    if (now < meter->due_at)
        return;
    /* Processes end between the readings of one sum: see usage_count(). */
    if (read_use(meter, &use))
        usage_count(&meter->counter, now, use.cpu_us, use.memory);
    if (now >= meter->write_at) {
        write_file(meter);
        meter->write_at = now + usage_pause_ms(&meter->counter, now);
    }
    const int64_t rest = (clock_monotonic_ms() - now) * REST;
    const int64_t every = meter->counter.usage.every_ms;
    meter->due_at = now + (rest > every ? rest : every);
}

/* What has ended has no memory any more, but for the most that one process had:
 * for a run that was over before the first point. */
void meter_end(struct meter *meter)
{
    struct tree_use use;
    if (meter->folder == NULL)
        return;
    const int64_t cpu_us =
        meter->group != NULL && tree_use_read_group(meter->group, &use)
            ? use.cpu_us
            : cpu_us_of_ended();
    usage_count(&meter->counter, clock_monotonic_ms(), cpu_us,
                meter->counter.usage.n == 0
                    ? (int64_t)of_ended().ru_maxrss * 1024
                    : -1);
    write_file(meter);
}
