#include "runner/shim/slurm.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/number.h"
#include "runner/base/disk.h"
#include "runner/element/addresses.h"
#include "runner/element/element.h"
#include "runner/element/image.h"
#include "runner/element/modules.h"
#include "runner/shim/child_shim.h"
#include "runner/shim/launch.h"
#include "runner/shim/server_relay.h"
#include "runner/shim/shim.h"

enum {
    FIRST_DELAY_MS = 100, /* between looks at a file that is awaited */
    LONGEST_DELAY_MS = 2000,
    SEEN_MS = 90 * 1000, /* for a file of one task to be seen by all: a minute,
                            and some more on a busy node */
    LEAST_TIME_MS = 60 * 1000, /* before the limit, for another trial */
};

struct run {
    const char *batch;
    struct arena *arena;
    const char *folder; /* of the element */
    int task;           /* SLURM_PROCID: which replica; the first asks */
    struct element self;
    struct element_patience patience;
    int signals;      /* signalfd: SIGCHLD, SIGTERM, SIGINT, SIGUSR1 */
    bool ending;      /* Slurm ends the job, or its time is over */
    int64_t end_at;   /* the limit, monotonic; INT64_MAX: not known */
    int64_t grace_ms; /* of the last answer */
    int code;         /* of this program */
};

/* One trial. */
struct turn {
    struct run *run;
    struct arena *arena;
    int number;
    struct element_answer answer;
    struct addresses addresses;
};

static bool leads(const struct run *run)
{
    return run->task == 0;
}

/* ---- begin ---- */

static int64_t variable(const char *name, int64_t fallback)
{
    const char *text = getenv(name);
    int64_t value;
    return text != NULL && number_int64(text, &value) ? value : fallback;
}

static const char *text_variable(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? text : "";
}

static enum ht_status read_environment(struct run *run, struct ht_error *err)
{
    static char host[256]; /* longer than any name that Linux has */
    (void)gethostname(host, sizeof host - 1);
    run->task = (int)variable("SLURM_PROCID", 0);
    /* A heterogeneous job is no array but one element as a whole. */
    const int64_t whole = variable("SLURM_JOB_ID_HET_GROUP_0", 0);
    run->self = (struct element){
        .job = variable("SLURM_ARRAY_JOB_ID", whole),
        .index = (int)variable("SLURM_ARRAY_TASK_ID", whole > 0 ? 0 : -1),
        .turn = 1,
        .launch = text_variable(ELEMENT_LAUNCH),
        .host = host,
        .nodes = text_variable("SLURM_JOB_NODELIST"),
        .gpus = text_variable("CUDA_VISIBLE_DEVICES"),
        .began_ms = clock_wall_ms(),
        .end_ms = variable("SLURM_JOB_END_TIME", 0) * 1000,
    };
    run->folder =
        arena_printf(run->arena, "%s/%d", run->batch, run->self.index);
    if (run->self.job <= 0 || run->self.index < 0)
        return ht_fail(err, HT_INVALID,
                       "no element of an array job of Slurm: "
                       "SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID are not "
                       "set, nor is SLURM_JOB_ID_HET_GROUP_0");
    return HT_OK;
}

static void set_limit(struct run *run, int64_t end_ms)
{
    if (end_ms > 0)
        run->end_at = clock_monotonic_ms() + (end_ms - clock_wall_ms());
}

/* Slurm says when the job ends only in newer releases, and the runner may
 * answer before a listing has said it. */
static void find_limit(struct run *run)
{
    set_limit(run, run->self.end_ms);
    if (run->end_at == INT64_MAX && run->patience.limit_ms > 0)
        run->end_at = clock_monotonic_ms() + run->patience.limit_ms;
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_SETMASK, &set, NULL);
    (void)signal(SIGCHLD, SIG_DFL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Whether an earlier launch was answered that there is no further trial. */
static bool is_dismissed(const struct run *run)
{
    struct element_answer last;
    return element_answer_read(run->arena, run->folder, run->self.turn - 1,
                               &last, NULL) == HT_OK &&
           last.end;
}

/* Of an earlier launch, what was answered is over. */
static enum ht_status announce(struct run *run, struct ht_error *err)
{
    int asked;
    bool answered;
    if (mkdir(run->folder, 0700) != 0 && errno != EEXIST)
        return ht_fail_errno(err, errno, "cannot make folder %s", run->folder);
    const enum ht_status status =
        element_asked(run->folder, &asked, &answered, err);
    if (status != HT_OK)
        return status;
    if (asked > 0)
        run->self.turn = answered ? asked + 1 : asked;
    return element_write(run->folder, &run->self, err);
}

/* ---- waiting ---- */

struct waiting {
    const char *what;
    int64_t since, bound_ms;
    int delay_ms;
};

static struct waiting wait_for(const char *what, int64_t bound_ms)
{
    return (struct waiting){.what = what,
                            .since = clock_monotonic_ms(),
                            .bound_ms = bound_ms,
                            .delay_ms = FIRST_DELAY_MS};
}

static const char *name_of_end(const struct run *run)
{
    return arena_printf(run->arena, "ended.%s", run->self.launch);
}

/* Why it is useless to wait any more; NULL: it is not. */
static const char *find_end(struct run *run, const struct waiting *waiting)
{
    char text[CLOCK_DURATION_BYTES];
    const int64_t now = clock_monotonic_ms();
    if (run->ending)
        return "Slurm ends the job";
    if (now >= run->end_at)
        return "its time is over";
    if (!leads(run) && disk_has(run->folder, name_of_end(run)))
        return "the first task has ended";
    if (!disk_refresh(run->batch)) {
        run->code = SHIM_FAILED;
        return arena_printf(run->arena, "%s is gone", run->batch);
    }
    if (now - waiting->since < waiting->bound_ms)
        return NULL;
    run->code = SHIM_FAILED;
    return arena_printf(run->arena, "no %s within %s", waiting->what,
                        clock_duration(text, waiting->bound_ms));
}

/* Waits a little, then longer and longer. False, with a line on stderr, when it
 * is useless. */
static bool wait_more(struct run *run, struct waiting *waiting)
{
    const char *end = find_end(run, waiting);
    if (end != NULL) {
        child_shim_say("ends while it waits for its %s: %s", waiting->what,
                       end);
        return false;
    }
    struct pollfd fd = {.fd = run->signals, .events = POLLIN};
    if (poll(&fd, 1, waiting->delay_ms) > 0)
        run->ending = child_shim_signals(run->signals) != 0 || run->ending;
    const int next = waiting->delay_ms * 3 / 2;
    waiting->delay_ms = next < LONGEST_DELAY_MS ? next : LONGEST_DELAY_MS;
    return true;
}

static bool wait_for_answer(struct turn *turn)
{
    struct run *run = turn->run;
    struct ht_error err;
    struct waiting waiting = wait_for("answer", run->patience.answer_ms);
    for (;;) {
        const enum ht_status status = element_answer_read(
            turn->arena, run->folder, turn->number, &turn->answer, &err);
        if (status == HT_OK)
            return true;
        if (status == HT_CORRUPT) {
            child_shim_say("ends: %s", err.text);
            run->code = SHIM_FAILED;
            return false;
        }
        if (!wait_more(run, &waiting))
            return false;
    }
}

/* Whether the element is of this launch still. */
static bool is_latest(struct run *run, struct element *element)
{
    return element_read(run->arena, run->folder, element, NULL) == HT_OK &&
           element->job == run->self.job &&
           strcmp(element->launch, run->self.launch) == 0;
}

/* Learns from the first task with which turn this launch begins. */
static bool wait_for_first_task(struct run *run)
{
    struct element first;
    struct waiting waiting = wait_for("first task", run->patience.answer_ms);
    while (!is_latest(run, &first))
        if (!wait_more(run, &waiting))
            return false;
    run->self.turn = first.turn;
    return true;
}

/* ---- one trial ---- */

static bool is_one_of(const char *entry, const char *const names[], size_t n)
{
    size_t i = 0;
    while (i < n && strncmp(entry, names[i], strlen(names[i])) != 0)
        i++;
    return i < n;
}

/* Slurm knows what the node gives to the job. A credential is not the
 * trainer's, and a trainer's own srun takes the trainer's environment. */
static bool is_given(const char *entry)
{
    static const char *const given[] = {
        "SLURM",   "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=",
        "TMPDIR=", "GPU_DEVICE_ORDINAL=",   "ZE_AFFINITY_MASK="};
    static const char *const kept[] = {
        "SLURM_JWT=", "SLURM_EXPORT_ENV=", "SLURM_GET_USER_ENV="};
    return is_one_of(entry, given, sizeof given / sizeof *given) &&
           !is_one_of(entry, kept, sizeof kept / sizeof *kept);
}

/* `report_url`: NULL: there is none. */
static struct pairs given_variables(struct arena *arena, const char *report_url)
{
    const struct pair report = {"HYPERTUNE_REPORT_URL", report_url};
    return launch_environment(arena, is_given,
                              report_url != NULL ? &report : NULL);
}

/* As torch.distributed reads them. */
static struct pairs rank_variables(const struct turn *turn)
{
    const char *master = turn->addresses.items[0].real;
    const size_t host = strcspn(master, ":");
    struct arena *arena = turn->arena;
    const struct pair pairs[] = {
        {"MASTER_ADDR", arena_strndup(arena, master, host)},
        {"MASTER_PORT", master + host + 1},
        {"RANK", arena_printf(arena, "%d", turn->run->task)},
        {"WORLD_SIZE", arena_printf(arena, "%zu", turn->addresses.n)},
    };
    struct pair *items = arena_alloc(arena, 4, sizeof *items);
    memcpy(items, pairs, sizeof pairs);
    return (struct pairs){.n = 4, .items = items};
}

static const char *replica_folder(const struct turn *turn, size_t i)
{
    return arena_printf(turn->arena, "%s/%s", turn->answer.folder,
                        turn->addresses.items[i].name);
}

/* All tasks tell their addresses before any trainer starts. False when one does
 * not: then the replica has ended, and so does the element, which lacks a
 * task. */
static bool find_addresses(struct turn *turn)
{
    struct run *run = turn->run;
    struct ht_error err;
    int port;
    const int64_t patience = run->patience.answer_ms;
    struct waiting waiting =
        wait_for("address", patience < SEEN_MS ? patience : SEEN_MS);
    enum ht_status status =
        addresses_tell(run->folder, turn->number, (size_t)run->task,
                       run->self.host, &port, &err);
    if (status == HT_OK) {
        do
            status = addresses_learn(turn->arena, run->folder, turn->number,
                                     &turn->addresses, &err);
        while (status == HT_NOT_FOUND && wait_more(run, &waiting));
        close(port);
    }
    if (status == HT_OK)
        return true;
    child_shim_say("%s", err.text);
    child_shim_end(replica_folder(turn, (size_t)run->task),
                   run->ending ? element_with_job : err.text);
    return false;
}

/* Before the next trial is asked for, all replicas have ended: the first one's
 * end stops the others. False: a task is gone without a word. */
static bool wait_for_replicas(struct turn *turn)
{
    struct waiting waiting =
        wait_for("other replicas", turn->run->grace_ms + SEEN_MS);
    for (size_t i = 1; i < turn->addresses.n; i++) {
        const char *folder = replica_folder(turn, i);
        while (disk_refresh(folder) && !disk_has(folder, "exit.json"))
            if (!wait_more(turn->run, &waiting))
                return false;
    }
    return true;
}

/* False: the element is of no more use. */
static bool run_trial(struct turn *turn)
{
    struct run *run = turn->run;
    const size_t task = (size_t)run->task;
    struct ht_error err;
    if (addresses_read(turn->arena, turn->answer.folder, &turn->addresses,
                       &err) != HT_OK) {
        child_shim_say("%s", err.text);
        return true;
    }
    const bool several = turn->addresses.n > 1;
    if (task >= turn->addresses.n)
        return true;
    if (several && !find_addresses(turn))
        return false;
    pid_t relay;
    const char *report_url =
        server_relay_start(turn->arena, &turn->answer.report, &relay);
    struct shim_batch batch = {
        .stop_at =
            run->end_at == INT64_MAX ? INT64_MAX : run->end_at - run->grace_ms,
        .end_at = run->end_at,
        .kill_wait_ms = run->patience.kill_wait_ms,
        .with_job = element_with_job,
        .given = given_variables(turn->arena, report_url),
        .modules =
            modules_changes(turn->arena, getenv(MODULES_BEFORE), environ),
        .container = image_way_read(turn->arena, run->batch),
    };
    if (several) {
        batch.defaults = rank_variables(turn);
        batch.addresses = turn->addresses;
    }
    child_shim_run(replica_folder(turn, task), &batch, run->signals,
                   &run->ending);
    server_relay_stop(relay);
    return !several || !leads(run) || wait_for_replicas(turn);
}

/* ---- turns ---- */

static bool has_time(const struct run *run)
{
    const int64_t least =
        run->grace_ms > LEAST_TIME_MS ? run->grace_ms : LEAST_TIME_MS;
    if (run->end_at == INT64_MAX || run->end_at - clock_monotonic_ms() >= least)
        return true;
    child_shim_say("ends: its time is over soon");
    return false;
}

/* False: it was the last one. */
static bool take_turn(struct turn *turn)
{
    struct run *run = turn->run;
    struct element latest;
    struct ht_error err;
    if (leads(run) && element_ask(run->folder, turn->number, &err) != HT_OK) {
        child_shim_say("ends: %s", err.text);
        run->code = SHIM_FAILED;
        return false;
    }
    if (!wait_for_answer(turn))
        return false;
    if (turn->answer.end) {
        child_shim_say("ends: there is no further trial");
        return false;
    }
    if (!is_latest(run, &latest)) {
        child_shim_say("ends: Slurm has started the element again");
        return false;
    }
    set_limit(run, turn->answer.limit_ms);
    run->grace_ms = turn->answer.grace_ms;
    child_shim_say("runs %s", turn->answer.folder);
    const bool more = run_trial(turn);
    if (run->ending)
        child_shim_say("ends with the job");
    return more && !run->ending && (!leads(run) || has_time(run));
}

static void take_turns(struct run *run)
{
    bool more = true;
    for (int number = run->self.turn; more; number++) {
        struct turn turn = {.run = run, .arena = arena_new(), .number = number};
        more = take_turn(&turn);
        arena_free(turn.arena);
    }
}

static void run_element(struct run *run)
{
    struct ht_error err;
    const enum ht_status status = leads(run) ? announce(run, &err) : HT_OK;
    if (status != HT_OK) {
        child_shim_say("ends: %s", err.text);
        run->code = SHIM_FAILED;
    } else if (leads(run) && is_dismissed(run)) {
        child_shim_say("ends: there was no further trial");
    } else if (leads(run) || wait_for_first_task(run)) {
        take_turns(run);
    }
    if (leads(run)) /* the folder may be gone */
        (void)disk_mark(run->folder, name_of_end(run), NULL);
}

int slurm_run(const char *batch)
{
    struct ht_error err;
    struct run run = {.batch = batch,
                      .arena = arena_new(),
                      .patience = element_patience_read(batch),
                      .signals = open_signals(),
                      .end_at = INT64_MAX,
                      .code = SHIM_DONE};
    if (run.signals < 0 || read_environment(&run, &err) != HT_OK) {
        child_shim_say("%s", run.signals < 0 ? "no signalfd" : err.text);
        run.code = SHIM_FAILED;
    } else {
        find_limit(&run);
        run_element(&run);
    }
    arena_free(run.arena);
    return run.code;
}
