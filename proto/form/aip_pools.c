/* aip_pools.c - the machines, containers and Python modules of the AI Platform
 * form. */

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/form/aip.h"
#include "proto/job/command.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"

#define REPLICA(member) offsetof(struct aip_replica, member)

const char *const aip_prefixes[JOB_POOLS] = {"master", "worker",
                                             "parameterServer", "evaluator"};

/* ---- masterConfig, workerConfig, ... ---- */

static void refuse_tpu(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    (void)into;
    field_error(reader, at, "there are no TPUs here");
}

static void read_accelerator_type(const struct field_reader *reader,
                                  struct place at, const struct field *field,
                                  void *into)
{
    enum { NO_KIND, A_GPU, A_TPU };
    static const struct field_choice types[] = {
        {"ACCELERATOR_TYPE_UNSPECIFIED", 0, NO_KIND},
        {"NVIDIA_TESLA_K80", 1, A_GPU},
        {"NVIDIA_TESLA_P100", 2, A_GPU},
        {"NVIDIA_TESLA_V100", 3, A_GPU},
        {"NVIDIA_TESLA_P4", 4, A_GPU},
        {"NVIDIA_TESLA_T4", 5, A_GPU},
        {"NVIDIA_TESLA_A100", -1, A_GPU},
        {"TPU_V2", 6, A_TPU},
        {"TPU_V3", -1, A_TPU},
        {"TPU_V2_POD", -1, A_TPU},
        {"TPU_V3_POD", -1, A_TPU},
        {"TPU_V4_POD", -1, A_TPU},
        {NULL, 0, 0}};
    struct aip_replica *replica = into;
    const struct field row = {.name = "accelerator", .choices = types};
    const struct field_choice *choice = field_choice(reader, at, &row);
    if (choice == NULL || choice->value == NO_KIND)
        return;
    if (choice->value == A_TPU)
        refuse_tpu(reader, at, field, into);
    replica->accelerator = choice->name;
}

static const struct field accelerator_rows[] = {
    {"count", field_whole, REPLICA(gpus), .max = 1024},
    {"type", read_accelerator_type, .place = REPLICA(accelerator_at)},
    {0}};

static const struct field disk_rows[] = {
    {"bootDiskSizeGb", kept_value, .check = field_whole, .max = INT32_MAX},
    {.name = "bootDiskType", .read = kept_text},
    {0}};

const struct field aip_config_rows[] = {
    {"imageUri", field_word, REPLICA(image), .fault = container_image_fault},
    {"containerCommand", field_scalars, REPLICA(command), .max = HT_MAX_ARGS,
     .place = REPLICA(container)},
    {"containerArgs", field_scalars, REPLICA(args), .max = HT_MAX_ARGS,
     .place = REPLICA(container)},
    {"acceleratorConfig", field_map, .rows = accelerator_rows},
    {"diskConfig", kept_map, .rows = disk_rows},
    {.name = "tpuTfVersion", .read = refuse_tpu},
    {0}};

void aip_machine(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    if (node_string(at.node) && strstr(at.node->text, "tpu"))
        refuse_tpu(reader, at, field, into);
    else
        field_word(reader, at, field, into);
}

void aip_module(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    (void)field;
    struct aip_draft *aip = into;
    aip->module = node_string(at.node);
    if (aip->module == NULL || aip->module[0] == '\0')
        field_error(reader, at, "must name a module, such as trainer.task");
}

/* ---- between them ---- */

/* What there is no pool for is echoed all the same. */
static void keep_place(const struct field_reader *reader, struct place said)
{
    if (said.node)
        kept_silently(reader, said);
}

/* Without any scaleTier, a cluster is what was meant: gcloud has the tier as a
 * separate flag. */
static void check_count(const struct field_reader *reader,
                        const struct aip_draft *aip,
                        const struct aip_replica *replica)
{
    struct place said =
        replica->config.node ? replica->config : replica->machine_at;
    if (replica->count == 0 && said.node) {
        field_warning(reader, said, "has no replicas: there is no count");
        keep_place(reader, replica->machine_at);
        keep_place(reader, replica->accelerator_at);
    }
    if (replica->count > 0 && aip->tier != TIER_UNSAID &&
        aip->tier != TIER_CUSTOM) {
        field_error(reader, replica->count_at, "needs scaleTier CUSTOM, not %s",
                    aip->tier_at.node->text);
        diag_hint(reader->diag, "all other tiers fix the counts");
    }
}

/* An image brings what Google's own images would have had. */
static void exclude_image(const struct field_reader *reader,
                          const struct aip_draft *aip, struct place said)
{
    if (said.node && node_string(said.node) != NULL &&
        said.node->text[0] == '\0')
        return;
    if (said.node && aip->replicas[0].image)
        field_error(reader, said,
                    "excludes masterConfig.imageUri: say one of them");
}

static void check_words(const struct field_reader *reader,
                        const struct aip_draft *aip)
{
    for (size_t i = 0; i < JOB_POOLS && aip->args.n > 0; i++)
        if (aip->replicas[i].container.node)
            field_error(reader, aip->replicas[i].container,
                        "excludes %s: say one of them", aip->args_at.path);
    exclude_image(reader, aip, aip->module_at);
    exclude_image(reader, aip, aip->runtime_at);
    exclude_image(reader, aip, aip->python_at);
}

static void check_gpus(const struct field_reader *reader,
                       const struct aip_replica *replica)
{
    if (replica->accelerator && replica->gpus == 0)
        field_warning(reader, replica->accelerator_at,
                      "asks for no GPU without a count");
}

static struct pool make_pool(const struct field_reader *reader,
                             const struct aip_draft *aip, size_t role)
{
    const struct aip_replica *said = &aip->replicas[role];
    struct pool pool = {.type = job_pool_types[role],
                        .count = role == 0 ? 1 : (int)said->count,
                        .image =
                            said->image ? said->image : aip->replicas[0].image,
                        .command = said->command,
                        .args = said->container.node ? said->args : aip->args,
                        .machine = said->machine,
                        .accelerator = said->accelerator,
                        .gpus = said->gpus};
    if (aip->module && pool.image == NULL && pool.command.n == 0)
        pool.command = command_of_module(reader->arena, aip->module);
    return pool;
}

void aip_finish_pools(const struct field_reader *reader, struct aip_draft *aip)
{
    struct job *job = &aip->draft.job;
    check_words(reader, aip);
    job->pools = arena_alloc(reader->arena, JOB_POOLS, sizeof *job->pools);
    for (size_t i = 0; i < JOB_POOLS; i++) {
        if (i > 0)
            check_count(reader, aip, &aip->replicas[i]);
        if (i > 0 && aip->replicas[i].count == 0)
            continue;
        job->pools[job->n_pools++] = make_pool(reader, aip, i);
        check_gpus(reader, &aip->replicas[i]);
    }
    if (aip->tier == TIER_BASIC_GPU)
        job->pools[0].gpus = 1;
}
