#include "tests/lib/own_folder.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

void own_folder_enter(void)
{
    char path[PATH_MAX];
    const char *base = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/ht-own-XXXXXX",
                   base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL || chdir(path) != 0) {
        perror(path);
        exit(1); /* never into the folder of the sources */
    }
}
