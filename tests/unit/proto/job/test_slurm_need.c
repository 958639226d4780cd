/* What the slots of a study need, and its text between server and runner. */
#include <stdlib.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/slurm.h"
#include "tests/check.h"
#include "tests/lib/drawn_job.h"
#include "tests/lib/spec.h"

static struct arena *arena;

#define HEAD "goal: maximize accuracy\nparameters: {lr: [1, 2]}\ncommand: a\n"
#define GIB (INT64_C(1) << 30)

/* A spec that is wrong ends the program. */
static struct slurm_need need_of(const char *spec)
{
    struct diag diag;
    const struct job *job = spec_read(
        arena, native_read, arena_printf(arena, HEAD "%s", spec), &diag);
    if (job == NULL)
        exit(1);
    return slurm_need_of(arena, job);
}

static void it_has_the_needs_of_each_pool(void)
{
    const struct slurm_need need =
        need_of("resources: {cpus: 2, memory: 1Gi, gpus: 1}\n"
                "runOn: {engine: slurm, gpu: rtx 4090}\n"
                "trialTimeout: 90s\ngrace: 5s\n"
                "slurm: {account: vision, trialsPerJob: 2}\n"
                "replicas: {worker: {count: 3, resources: "
                "{cpus: 2, memory: 1Gi, gpus: 1}}}\n");
    CHECK(need.n_pools == 2 && need.trial_timeout_ms == 90000);
    CHECK_TEXT(need.section.account, "vision");
    CHECK(need.grace_ms == 5000 && need.section.trials_per_job == 2);
    const struct slurm_pool *master = &need.pools[0], *worker = &need.pools[1];
    CHECK(master->count == 1 && worker->count == 3);
    CHECK(master->cpus == 2 && worker->cpus == 2);
    CHECK(master->memory_bytes == GIB && worker->memory_bytes == GIB);
    CHECK(master->gpus == 1 && worker->gpus == 1);
    CHECK_TEXT(master->gpu_model, "rtx_4090");
}

/* A job file of Google's names a machine; the job's own words win. */
static void a_machine_type_is_what_google_documents(void)
{
    struct slurm_need need = need_of("machine: a2-highgpu-2g\n");
    CHECK(need.pools[0].cpus == 24 && need.pools[0].gpus == 2);
    CHECK(need.pools[0].memory_bytes == 170 * GIB);
    need = need_of("machine: n1-standard-4\nresources: {memory: 2Gi}\n");
    CHECK(need.pools[0].cpus == 4 && need.pools[0].gpus == 0);
    CHECK(need.pools[0].memory_bytes == 2 * GIB);
    need = need_of("machine: unknown\n");
    CHECK(need.pools[0].cpus == 0 && need.pools[0].memory_bytes == 0);
}

static void a_part_of_a_gpu_is_not_forgotten(void)
{
    struct slurm_need need = need_of("resources: {gpu: 0.5}\n");
    CHECK(need.pools[0].gpu_detail && need.pools[0].gpus == 0);
    need = need_of("resources: {gpus: 1, gpuMemory: 10G}\n");
    CHECK(need.pools[0].gpu_detail && need.pools[0].gpus == 1);
    need = need_of("machine: a2-highgpu-2g\nresources: {gpu: 0.5}\n");
    CHECK(need.pools[0].gpu_detail && need.pools[0].gpus == 0);
}

static enum ht_status read_back(const char *text, struct slurm_need *need,
                                struct ht_error *err)
{
    return slurm_need_read(arena, node_read_stored(arena, text), need, err);
}

/* The text of what was read is the text that was read. */
static void its_text_is_the_whole_of_it(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct slurm_need back;
        struct ht_error err = {0};
        const struct job *job =
            drawn_job(arena, JOB_TUNING, seed * 0x9e3779b97f4a7c15);
        const struct slurm_need need = slurm_need_of(arena, job);
        const char *text = slurm_need_write(arena, &need);
        if (need.n_pools == 0) {
            CHECK(read_back(text, &back, &err) == HT_INVALID);
            continue;
        }
        CHECK(read_back(text, &back, &err) == HT_OK);
        CHECK_TEXT(err.text, "");
        CHECK_TEXT(slurm_need_write(arena, &back), text);
        CHECK(back.n_pools == need.n_pools &&
              back.section.said == need.section.said);
        arena_reset(arena);
    }
}

static void a_wrong_text_is_refused(void)
{
    static const struct {
        const char *text, *want;
    } faults[] = {
        {"{}", "need.pools: there are none"},
        {"{\"pools\":[{}]}", "need.pools: one has no replicas"},
        {"{\"pools\":[{\"count\":0}]}",
         "need.pools[0].count: must be from 1 to 1000, is 0"},
        {"{\"pools\":[{\"count\":1,\"licences\":2}]}",
         "need.pools[0].licences: unknown field \"licences\""},
        {"{\"pools\":[{\"count\":1}],\"slurm\":{\"options\":[\"--wrap=x\"]}}",
         "need.slurm.options[0]: --wrap is set by hypertune: the command of "
         "the spec says what runs"},
        {"[]", "need: must be a map, not a list"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct slurm_need need = {.grace_ms = 7};
        struct ht_error err = {0};
        CHECK(read_back(faults[i].text, &need, &err) == HT_INVALID);
        CHECK_TEXT(err.text, faults[i].want);
        CHECK(need.grace_ms == 7);
    }
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(it_has_the_needs_of_each_pool);
    RUN(a_machine_type_is_what_google_documents);
    RUN(a_part_of_a_gpu_is_not_forgotten);
    RUN(its_text_is_the_whole_of_it);
    RUN(a_wrong_text_is_refused);
    arena_free(arena);
    return check_done();
}
