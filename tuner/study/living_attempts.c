#include "tuner/study/living_attempts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"

enum { BUCKETS = 1024 };

struct living { /* the newest attempt of a trial */
    struct trial_name name;
    char runner[HT_MAX_NAME + 1];
    int replicas[JOB_POOLS]; /* by the order of job_pool_types */
    struct living *next;
};

struct greeted { /* a runner */
    char id[HT_MAX_NAME + 1];
    char boot[LIVE_BOOT_BYTES];
    struct greeted *next;
};

struct living_attempts {
    pthread_mutex_t lock; /* guards the rest */
    struct living *attempts[BUCKETS];
    struct greeted *runners[BUCKETS];
};

static struct living_attempts *table_of(struct core *core)
{
    return core_part(core, CORE_LIVING);
}

/* --- replicas --- */

static bool is_among(const int replicas[JOB_POOLS], const char *name)
{
    for (size_t i = 0; i < JOB_POOLS; i++) {
        const size_t len = strlen(job_pool_types[i]);
        if (strncmp(name, job_pool_types[i], len) != 0 || name[len] != '-')
            continue;
        const char *digits = name + len + 1;
        const size_t n = strspn(digits, "0123456789");
        return n > 0 && n <= 6 && digits[n] == '\0' &&
               (n == 1 || digits[0] != '0') &&
               strtol(digits, NULL, 10) < replicas[i];
    }
    return false;
}

static void count_replicas(const struct job *job, int replicas[JOB_POOLS])
{
    memset(replicas, 0, JOB_POOLS * sizeof *replicas);
    for (size_t i = 0; i < job->n_pools; i++)
        replicas[job_pool_place(job->pools[i].type)] = job->pools[i].count;
}

bool living_attempts_has_replica(const struct job *job, const char *replica)
{
    int replicas[JOB_POOLS];
    count_replicas(job, replicas);
    return is_among(replicas, replica);
}

/* --- the table; the lock is held --- */

/* The link to the trial's entry, or to NULL where it would be. */
static struct living **find(struct living_attempts *table, int64_t study,
                            int64_t trial)
{
    const uint64_t hash = (uint64_t)study * 31 + (uint64_t)trial;
    struct living **link = &table->attempts[hash % BUCKETS];
    while (*link != NULL &&
           ((*link)->name.study != study || (*link)->name.trial != trial))
        link = &(*link)->next;
    return link;
}

static struct greeted **find_runner(struct living_attempts *table,
                                    const char *id)
{
    uint64_t hash = 5381;
    for (const char *c = id; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    struct greeted **link = &table->runners[hash % BUCKETS];
    while (*link != NULL && strcmp((*link)->id, id) != 0)
        link = &(*link)->next;
    return link;
}

static void put(struct living_attempts *table, const struct living *living)
{
    memory_lock(&table->lock);
    struct living **link = find(table, living->name.study, living->name.trial);
    struct living *next = *link == NULL ? NULL : (*link)->next;
    if (*link == NULL)
        *link = ht_xcalloc(1, sizeof **link);
    **link = *living;
    (*link)->next = next;
    memory_unlock(&table->lock);
}

static void put_runner(struct living_attempts *table,
                       const struct greeted *runner)
{
    memory_lock(&table->lock);
    struct greeted **link = find_runner(table, runner->id);
    if (*link == NULL) {
        *link = ht_xcalloc(1, sizeof **link);
        memcpy((*link)->id, runner->id, sizeof runner->id);
    }
    memcpy((*link)->boot, runner->boot, sizeof runner->boot);
    memory_unlock(&table->lock);
}

static void remove_at(struct living **link)
{
    struct living *gone = *link;
    *link = gone->next;
    free(gone);
}

static void remove_study(struct living_attempts *table, int64_t study)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct living **link = &table->attempts[i]; *link != NULL;)
            if ((*link)->name.study == study)
                remove_at(link);
            else
                link = &(*link)->next;
}

/* --- changes --- */

static void apply_add(struct core *core, const void *data)
{
    put(table_of(core), data);
}

static struct living living_of(const struct attempt_row *attempt,
                               const struct job *job)
{
    struct living living = {
        .name = {attempt->study, attempt->trial, attempt->n}};
    snprintf(living.runner, sizeof living.runner, "%s", attempt->runner);
    count_replicas(job, living.replicas);
    return living;
}

void living_attempts_add(struct core *core, const struct attempt_row *attempt,
                         const struct job *job)
{
    const struct living living = living_of(attempt, job);
    core_defer(core, apply_add, &living, sizeof living);
}

static void apply_drop(struct core *core, const void *data)
{
    const struct trial_name *name = data;
    struct living_attempts *table = table_of(core);
    memory_lock(&table->lock);
    if (name->trial == 0)
        remove_study(table, name->study);
    else if (*find(table, name->study, name->trial) != NULL)
        remove_at(find(table, name->study, name->trial));
    memory_unlock(&table->lock);
}

void living_attempts_drop(struct core *core, int64_t study, int64_t trial)
{
    const struct trial_name name = {study, trial, 0};
    core_defer(core, apply_drop, &name, sizeof name);
}

static void apply_greet(struct core *core, const void *data)
{
    put_runner(table_of(core), data);
}

void living_attempts_greet(struct core *core, const char *runner,
                           const char *boot)
{
    struct greeted greeted = {0};
    snprintf(greeted.id, sizeof greeted.id, "%s", runner);
    snprintf(greeted.boot, sizeof greeted.boot, "%s", boot);
    core_defer(core, apply_greet, &greeted, sizeof greeted);
}

/* --- questions --- */

static enum ht_status check(struct living_attempts *table,
                            const struct trial_name *name, const char *runner,
                            const char *boot, const char *replica,
                            struct ht_error *err)
{
    const struct greeted *greeted = *find_runner(table, runner);
    if (greeted == NULL || strcmp(greeted->boot, boot) != 0)
        return ht_fail(err, HT_INVALID, "say hello first");
    const struct living *living = *find(table, name->study, name->trial);
    if (living == NULL || living->name.attempt != name->attempt ||
        strcmp(living->runner, runner) != 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "no attempt %lld of trial %lld of study %lld runs at "
                       "runner %.64s",
                       (long long)name->attempt, (long long)name->trial,
                       (long long)name->study, runner);
    if (!is_among(living->replicas, replica))
        return ht_fail(err, HT_INVALID, "the attempt has no replica %.64s",
                       replica);
    return HT_OK;
}

// NOLINTNEXTLINE(readability-function-size): who sends what
enum ht_status living_attempts_check(struct core *core,
                                     const struct trial_name *name,
                                     const char *runner, const char *boot,
                                     const char *replica, struct ht_error *err)
{
    struct living_attempts *table = table_of(core);
    memory_lock(&table->lock);
    const enum ht_status status =
        check(table, name, runner, boot, replica, err);
    memory_unlock(&table->lock);
    return status;
}

/* --- the part --- */

static enum ht_status load_attempts(struct core *core, struct arena *arena,
                                    struct living_attempts *table,
                                    const char *runner, struct ht_error *err)
{
    struct attempt_list open = {0};
    enum ht_status status =
        db_attempt_open(core_db(core), arena, runner, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++) {
        const struct job *job;
        if (core_job(core, open.rows[i].study, &job, err) != HT_OK)
            continue; /* a damaged spec must not keep the server from starting
                       */
        const struct living living = living_of(&open.rows[i], job);
        put(table, &living);
    }
    return status;
}

enum ht_status living_attempts_start(struct core *core, void **data,
                                     struct ht_error *err)
{
    struct living_attempts *table = ht_xcalloc(1, sizeof *table);
    struct arena *arena = arena_new();
    struct runner_list list = {0};
    pthread_mutex_init(&table->lock, NULL);
    *data = table;
    enum ht_status status = db_runner_list(core_db(core), arena, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        struct greeted greeted = {0};
        snprintf(greeted.id, sizeof greeted.id, "%s", list.rows[i].id);
        snprintf(greeted.boot, sizeof greeted.boot, "%s", list.rows[i].boot);
        put_runner(table, &greeted);
        status = load_attempts(core, arena, table, list.rows[i].id, err);
    }
    arena_free(arena);
    return status;
}

void living_attempts_stop(void *data)
{
    struct living_attempts *table = data;
    if (table == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        while (table->attempts[i] != NULL)
            remove_at(&table->attempts[i]);
        while (table->runners[i] != NULL) {
            struct greeted *gone = table->runners[i];
            table->runners[i] = gone->next;
            free(gone);
        }
    }
    pthread_mutex_destroy(&table->lock);
    free(table);
}
