/* main.c - hypertune-shim. */

#include <stdio.h>

#include "runner/shim/shim.h"

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] != '/') {
        (void)fprintf(stderr, "usage: hypertune-shim FOLDER\n"
                              "Runs FOLDER/launch.json; FOLDER is absolute. "
                              "Started by hypertune-runner.\n");
        return SHIM_USAGE;
    }
    return shim_run(argv[1]);
}
