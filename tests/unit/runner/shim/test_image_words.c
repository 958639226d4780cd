/* runner/shim/image_words.h: the command by which each tool runs an image. */
#include "runner/element/image.h"
#include "runner/shim/image_words.h"

#include <string.h>

#include "tests/check.h"

static const struct image_mount mounts[] = {
    {"/kit", "/hypertune/kit", true},
    {"/state/1/1/1/master-0", "/hypertune/trial", false},
};
static const struct image_order order = {
    .image = "registry.example/train:7",
    .name = "ht-1-master-0",
    .n_mounts = 2,
    .mounts = mounts,
};
static const char *const command[] = {"/shim", "--inside", "/hypertune/trial"};

static const char *line(struct arena *arena, const struct image_call *call)
{
    const struct strings words = image_words(arena, call);
    struct text out = {0};
    for (size_t i = 0; i < words.n; i++)
        text_printf(&out, "%s%s", i > 0 ? " " : "", words.items[i]);
    return text_take(&out, arena);
}

static void check(struct image_call call, const char *want)
{
    struct arena *arena = arena_new();
    if (call.order == NULL)
        call.order = &order;
    call.command = (struct strings){3, command};
    CHECK_TEXT(line(arena, &call), want);
    arena_free(arena);
}

static void apptainer_gets_nothing_of_the_node(void)
{
    check((struct image_call){.tool = IMAGE_APPTAINER,
                              .program = "/usr/bin/apptainer",
                              .gpus = true},
          "/usr/bin/apptainer exec --cleanenv --contain --no-home --pwd / --nv "
          "--bind /kit:/hypertune/kit:ro "
          "--bind /state/1/1/1/master-0:/hypertune/trial "
          "docker://registry.example/train:7 /shim --inside /hypertune/trial");
}

static void apptainer_takes_files_as_they_are(void)
{
    static const struct image_order file = {.image = "/images/train.sif"};
    check((struct image_call){.tool = IMAGE_APPTAINER,
                              .program = "apptainer",
                              .order = &file},
          "apptainer exec --cleanenv --contain --no-home --pwd / "
          "/images/train.sif /shim --inside /hypertune/trial");
}

static void podman_stays_in_the_job(void)
{
    check((struct image_call){.tool = IMAGE_PODMAN,
                              .program = "podman",
                              .label = "7/8/b",
                              .files = "nofile=1:2",
                              .processes = "nproc=3:4",
                              .gpus = true,
                              .in_cgroup = true},
          "podman run --rm --network host --log-driver none --cap-drop all "
          "--security-opt no-new-privileges --security-opt label=disable "
          "--http-proxy=false --name ht-1-master-0 "
          "--label hypertune.shim=7/8/b --pull never --ulimit nofile=1:2 "
          "--ulimit nproc=3:4 --cgroups disabled "
          "--device nvidia.com/gpu=all "
          "--mount type=bind,src=/kit,dst=/hypertune/kit,ro=true "
          "--mount type=bind,src=/state/1/1/1/master-0,dst=/hypertune/trial "
          "--entrypoint /shim registry.example/train:7 --inside "
          "/hypertune/trial");
}

static void a_template_gets_image_and_command(void)
{
    static const char *const words[] = {"run", "--image={image}", "{command}"};
    check((struct image_call){.tool = IMAGE_TEMPLATE, .words = {3, words}},
          "run --image=registry.example/train:7 /shim --inside "
          "/hypertune/trial");
}

int main(void)
{
    RUN(apptainer_gets_nothing_of_the_node);
    RUN(apptainer_takes_files_as_they_are);
    RUN(podman_stays_in_the_job);
    RUN(a_template_gets_image_and_command);
    return check_done();
}
