#include "runner/shim/image_podman.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proto/doc/node.h"
#include "runner/base/json.h"
#include "runner/base/procfs.h"
#include "runner/shim/image_child.h"
#include "runner/shim/image_words.h"

enum { MOST_WORDS = 1000 };

/* ---- the image ---- */

/* The last line, in place; podman's own words come after a prefix. */
static const char *last_words(char *errors)
{
    size_t len = strlen(errors);
    while (len > 0 && errors[len - 1] == '\n')
        errors[--len] = '\0';
    const char *line = strrchr(errors, '\n');
    line = line != NULL ? line + 1 : errors;
    return strncmp(line, "Error: ", 7) == 0 ? line + 7 : line;
}

/* Another try would end the same. */
static bool is_names_fault(const char *image, const char *words)
{
    static const char *const known[] = {"manifest unknown",
                                        "not found",
                                        "denied",
                                        "unauthorized",
                                        "invalid reference",
                                        "short-name",
                                        "name unknown",
                                        "authentication required"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(words, known[i]) != NULL)
            return true;
    /* Podman's name for images that were built here; no registry has them. */
    return strncmp(image, "localhost/", strlen("localhost/")) == 0;
}

static bool pull(struct arena *arena, const char *program, const char *image,
                 struct ending *ending)
{
    char *errors;
    const char *const argv[] = {program, "pull", "--quiet", image, NULL};
    if (image_child_run(arena, argv, NULL, &errors) == 0)
        return true;
    const char *words = last_words(errors);
    const bool is_wrong = is_names_fault(image, words);
    folder_end(ending, is_wrong ? OUTCOME_FAILED : OUTCOME_LOST,
               "image %.128s: %s: %.300s", image,
               is_wrong ? "there is none of that name and tag, or no access to "
                          "it"
                        : "cannot be pulled",
               words);
    return false;
}

bool image_podman_pull(struct arena *arena, const char *program,
                       const struct image_order *order, struct ending *ending)
{
    const char *const argv[] = {program, "image", "exists", order->image, NULL};
    if (strcmp(order->pull, "always") == 0)
        return pull(arena, program, order->image, ending);
    if (image_child_run(arena, argv, NULL, NULL) == 0)
        return true;
    if (strcmp(order->pull, "never") != 0)
        return pull(arena, program, order->image, ending);
    folder_end(ending, OUTCOME_FAILED,
               "image %.128s: is not on this machine, and the job says "
               "\"pull: never\"",
               order->image);
    return false;
}

static struct strings words_of(struct arena *arena, const struct node *map,
                               const char *key)
{
    struct strings words, none = {0};
    const struct node *list = map != NULL ? node_find(map, key) : NULL;
    return json_read_strings(arena, list, MOST_WORDS, &words) ? words : none;
}

struct strings image_podman_entry(struct arena *arena, const char *program,
                                  const char *image, struct strings *command)
{
    char *output;
    const char *const argv[] = {
        program, "image", "inspect", "--format", "{{json .Config}}",
        image,   NULL};
    const struct node *map = NULL;
    if (image_child_run(arena, argv, &output, NULL) == 0)
        map = json_read_map(arena, output, strlen(output));
    *command = words_of(arena, map, "Cmd");
    return words_of(arena, map, "Entrypoint");
}

/* crun alone can, and refuses no machine where podman uses it. */
bool image_podman_in_cgroup(struct arena *arena, const char *program)
{
    char *output;
    const char *const argv[] = {program, "info", "--format",
                                "{{.Host.OCIRuntime.Name}}", NULL};
    return image_child_run(arena, argv, &output, NULL) == 0 &&
           strncmp(output, "crun", 4) == 0;
}

static long long at_most(rlim_t limit, long long most)
{
    return limit == RLIM_INFINITY || (long long)limit > most ? most
                                                             : (long long)limit;
}

const char *image_podman_limit(struct arena *arena, const char *name,
                               int resource, int64_t most)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    (void)getrlimit((unsigned)resource, &limit);
    return arena_printf(arena, "%s=%lld:%lld", name,
                        at_most(limit.rlim_cur, most),
                        at_most(limit.rlim_max, most));
}

/* ---- what is left ---- */

const char *image_podman_label(struct arena *arena)
{
    struct process self;
    if (procfs_identify(getpid(), &self, NULL) != HT_OK)
        return "0";
    return arena_printf(arena, "%d/%llu/%s", (int)self.pid,
                        (unsigned long long)self.start, self.boot);
}

static bool is_left(const char *label)
{
    struct process process = {0};
    char *end;
    errno = 0;
    process.pid = (pid_t)strtol(label, &end, 10);
    if (*end != '/')
        return true;
    process.start = strtoull(end + 1, &end, 10);
    if (errno != 0 || *end != '/' || strlen(end + 1) >= sizeof process.boot)
        return true;
    memcpy(process.boot, end + 1, strlen(end + 1));
    return !procfs_is_alive(&process);
}

void image_podman_remove_left(struct arena *arena, const char *program)
{
    char *output, *line, *rest;
    const char *const argv[] = {program,
                                "ps",
                                "--all",
                                "--filter",
                                "label=" IMAGE_LABEL,
                                "--format",
                                "{{.Names}} {{index .Labels \"" IMAGE_LABEL
                                "\"}}",
                                NULL};
    if (image_child_run(arena, argv, &output, NULL) != 0)
        return;
    for (line = strtok_r(output, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *blank = strchr(line, ' ');
        if (blank == NULL)
            continue;
        *blank = '\0';
        if (is_left(blank + 1))
            image_podman_remove(arena, program, line);
    }
}

void image_podman_remove(struct arena *arena, const char *program,
                         const char *name)
{
    const char *const argv[] = {program,  "rm", "--force", "--ignore",
                                "--time", "0",  name,      NULL};
    char *errors;
    (void)image_child_run(arena, argv, NULL, &errors);
}
