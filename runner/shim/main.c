/* main.c - hypertune-shim. */

#include <stdio.h>
#include <string.h>

#include "proto/base/memory.h"
#include "runner/mirror/serve.h"
#include "runner/shim/confine.h"
#include "runner/shim/copy.h"
#include "runner/shim/guest_command.h"
#include "runner/shim/image.h"
#include "runner/shim/image_inside.h"
#include "runner/shim/pod.h"
#include "runner/shim/shim.h"
#include "runner/shim/slurm.h"

int main(int argc, char **argv)
{
    memory_reserve();
    if (argc == 2 && strcmp(argv[1], "--sandbox") == 0) {
        puts(sandbox_name(confine_best()));
        return 0;
    }
    if (argc > 3 && strcmp(argv[1], "--guest") == 0)
        return guest_command_run(argv[2], argv + 3);
    if (argc == 3 && strcmp(argv[1], "--slurm") == 0 && argv[2][0] == '/')
        return slurm_run(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--mirror") == 0)
        return serve_run(argv[2], false);
    if (argc == 3 && strcmp(argv[1], "--pod-mirror") == 0)
        return serve_run(argv[2], true);
    if (argc == 3 && strcmp(argv[1], "--copy") == 0 && argv[2][0] == '/')
        return copy_run(argv[2]);
    if (argc == 4 && strcmp(argv[1], "--pod") == 0 && argv[2][0] == '/')
        return pod_run(argv[2], argv[3]);
    if (argc >= 3 && strcmp(argv[1], "--enter") == 0 && argv[2][0] == '/')
        return image_enter(argv[2], argv + 3);
    if (argc == 3 && strcmp(argv[1], "--inside") == 0 && argv[2][0] == '/')
        return image_inside_run(argv[2]);
    if (argc != 2 || argv[1][0] != '/') {
        (void)fprintf(
            stderr, "usage: hypertune-shim FOLDER | --slurm BATCH | --pod ROOT "
                    "FOLDER | --copy FILE | --[pod-]mirror ROOT | --sandbox | "
                    "--guest JSON COMMAND...\n"
                    "Runs FOLDER/launch.json; FOLDER is absolute. "
                    "Started by hypertune-runner. --slurm runs trials in a job "
                    "of Slurm, as the runner answers in the folder BATCH. "
                    "--pod is the first process of a pod of Kubernetes and "
                    "runs the trial in FOLDER below ROOT, once it is there. "
                    "--copy puts this program into a pod's volume. "
                    "--mirror has the files of a runner elsewhere in ROOT, as "
                    "it says at stdin. "
                    "--sandbox prints the best "
                    "sandbox for trials that this user can make "
                    "here, --guest runs COMMAND as a guest.\n");
        return SHIM_USAGE;
    }
    return shim_run(argv[1], NULL);
}
