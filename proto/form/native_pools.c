/* native_pools.c - the command, containers and replicas of the native form. */

#include <stddef.h>

#include "proto/base/limits.h"
#include "proto/form/native.h"
#include "proto/job/command.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"
#include "proto/job/run_on.h"

#define POOL(member) offsetof(struct native_pool, member)

/* ---- what a pool runs ---- */

void native_path(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    field_text(reader, at, field, into);
    if (at.node->kind == NODE_STRING && at.node->text[0] == '\0')
        field_error(reader, at, "is empty");
}

void native_command(const struct field_reader *reader, struct place at,
                    const struct field *field, void *into)
{
    (void)field;
    struct native_pool *pool = into;
    struct strings *command = &pool->pool.command;
    struct ht_error err;
    pool->command = at;
    if (at.node->kind == NODE_LIST) {
        field_read_texts(reader, at, HT_MAX_ARGS, true, command);
        if (at.node->count == 0 || (command->n > 0 && !*command->items[0]))
            field_error(reader, at, "the command is empty");
    } else if (at.node->kind != NODE_STRING) {
        field_wrong_kind(reader, at, "text or a list");
    } else if (command_split(reader->arena, at.node->text, command, &err) !=
               HT_OK) {
        field_error(reader, at, "%s", err.text);
    } else if (command->n > HT_MAX_ARGS) {
        field_error(reader, at, "has %zu words, at most %d", command->n,
                    HT_MAX_ARGS);
    } else {
        for (size_t i = 0; i < command->n; i++)
            field_is_word(reader, at, command->items[i]);
    }
}

/* ---- replicas ---- */

const struct field native_resource_rows[] = {
    {"cpus", field_real, POOL(pool.cpus), .max = 1000000},
    {"memory", field_bytes, POOL(pool.memory_bytes), .max = INT64_MAX},
    {"gpus", field_whole, POOL(pool.gpus), .max = 1024},
    {"gpu", job_gpu_part, POOL(pool.gpu_part), .place = POOL(part)},
    {"gpuMemory", field_bytes, POOL(pool.gpu_memory), .min = 1,
     .max = INT64_MAX},
    {0}};

const struct field native_replica_rows[] = {
    {"count", field_whole, POOL(count), .min = 1, .max = HT_MAX_PARALLEL},
    {.name = "command", .read = native_command},
    {"args", field_scalars, POOL(pool.args), .max = HT_MAX_ARGS},
    {"env", field_variables, POOL(pool.env), .max = HT_MAX_ENV,
     .place = POOL(env)},
    {"image", field_word, POOL(pool.image), .fault = container_image_fault},
    {"machine", field_word, POOL(pool.machine),
     .fault = container_machine_fault},
    {"resources", field_map, .rows = native_resource_rows},
    {0}};

static void read_replica(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    (void)field;
    struct native_pool *pool = into;
    pool->count = 1;
    field_read_map(reader, at, native_replica_rows, pool);
}

#define DRAFT(member) offsetof(struct native_draft, member)

const struct field native_replicas_rows[] = {
    {"worker", read_replica, .offset = DRAFT(pools[1])},
    {"ps", read_replica, .offset = DRAFT(pools[2])},
    {"evaluator", read_replica, .offset = DRAFT(pools[3])},
    {"chief", field_flag, .offset = DRAFT(draft.job.chief)},
    {0}};

static void inherit(struct native_pool *pool, const struct native_pool *master)
{
    if (pool->command.node == NULL)
        pool->pool.command = master->pool.command;
    if (pool->env.node == NULL)
        pool->pool.env = master->pool.env;
    if (pool->pool.image == NULL)
        pool->pool.image = master->pool.image;
    if (pool->pool.machine == NULL)
        pool->pool.machine = master->pool.machine;
}

void native_finish_pools(const struct field_reader *reader,
                         struct native_draft *native)
{
    struct job *job = &native->draft.job;
    job->pools = arena_alloc(reader->arena, JOB_POOLS, sizeof *job->pools);
    native->pools[0].count = 1;
    for (size_t i = 0; i < JOB_POOLS; i++) {
        struct native_pool *pool = &native->pools[i];
        if (pool->count == 0)
            continue;
        inherit(pool, &native->pools[0]);
        job_gpu_finish(reader, pool->part, &pool->pool);
        pool->pool.type = job_pool_types[i];
        pool->pool.count = (int)pool->count;
        job->pools[job->n_pools++] = pool->pool;
    }
}
