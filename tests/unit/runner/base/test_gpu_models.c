/* What nvidia-smi shows of GPUs. */
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/base/gpu_models.h"

#define GIB ((int64_t)1 << 30)

static const char query[] = "0, GPU-a1, NVIDIA A100-SXM4-80GB, 81920\n"
                            "1, GPU-b2, NVIDIA GeForce RTX 4090, 24564\n"
                            "2, GPU-c3, NVIDIA GB10, [N/A]\n"
                            "No devices were found\n";
static const char list[] = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-a1)\n"
                           "  MIG 3g.40gb     Device  0: (UUID: MIG-x)\n"
                           "  MIG 1g.10gb     Device  1: (UUID: MIG-y)\n"
                           "GPU 1: NVIDIA GeForce RTX 4090 (UUID: GPU-b2)\n"
                           "GPU 9: unknown (UUID: GPU-z)\n"
                           "  MIG 1g.10gb     Device  0: (UUID: MIG-z)\n";

static void models_are_found_by_index_and_by_uuid(void)
{
    struct arena *arena = arena_new();
    const struct gpu_models models = gpu_models_parse(arena, query, list);
    CHECK(models.n == 5);
    CHECK_TEXT(gpu_models_find(&models, "1")->name, "NVIDIA GeForce RTX 4090");
    CHECK(gpu_models_find(&models, "GPU-a1")->memory == 80 * GIB);
    CHECK(gpu_models_find(&models, "2")->memory == 0);
    const struct gpu_model *instance = gpu_models_find(&models, "MIG-x");
    CHECK_TEXT(instance->name, "NVIDIA A100-SXM4-80GB MIG 3g.40gb");
    CHECK(instance->memory == 40 * GIB);
    CHECK(gpu_models_find(&models, "MIG-z") == NULL);
    CHECK(gpu_models_find(&models, "7") == NULL);
    arena_free(arena);
}

static void a_gpu_is_replaced_by_its_instances(void)
{
    static const char *const names[] = {"0", "1", "5"};
    struct arena *arena = arena_new();
    const struct gpu_models models = gpu_models_parse(arena, query, list);
    const struct strings gpus = {3, names};
    const struct strings all = gpu_models_expand(arena, &models, &gpus);
    CHECK(all.n == 4);
    CHECK_TEXT(all.items[0], "MIG-x");
    CHECK_TEXT(all.items[1], "MIG-y");
    CHECK_TEXT(all.items[2], "1");
    CHECK_TEXT(all.items[3], "5");
    arena_free(arena);
}

static void write_program(const char *text)
{
    FILE *file = fopen("nvidia-smi", "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(chmod("nvidia-smi", 0700) == 0);
}

static void the_program_is_asked_and_may_be_missing_or_fail(void)
{
    struct arena *arena = arena_new();
    char folder[] = "/tmp/gpu-models-XXXXXX";
    const char *path = arena_strdup(arena, getenv("PATH"));
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    setenv("PATH", folder, 1);
    CHECK(gpu_models_ask(arena).n == 0);
    setenv("PATH", arena_printf(arena, "%s:%s", folder, path), 1);
    write_program("#!/bin/sh\n[ \"$1\" = -L ] && exit 0\n"
                  "echo '0, GPU-a1, NVIDIA A100-SXM4-80GB, 81920'\n");
    const struct gpu_models models = gpu_models_ask(arena);
    CHECK(models.n == 1);
    CHECK_TEXT(models.items[0].uuid, "GPU-a1");
    write_program("#!/bin/sh\necho '0, GPU-a1, A100, 81920'\nexit 9\n");
    CHECK(gpu_models_ask(arena).n == 0);
    CHECK(unlink("nvidia-smi") == 0 && chdir("/") == 0 && rmdir(folder) == 0);
    arena_free(arena);
}

int main(void)
{
    RUN(models_are_found_by_index_and_by_uuid);
    RUN(a_gpu_is_replaced_by_its_instances);
    RUN(the_program_is_asked_and_may_be_missing_or_fail);
    return check_done();
}
