#include "proto/job/metrics_file.h"

#include <string.h>

#include "proto/base/text.h"

const char *metrics_file_in_trial(const char *file)
{
    const size_t len = sizeof TRIAL_DIR_REFERENCE - 1;
    if (strncmp(file, TRIAL_DIR_REFERENCE, len) != 0 || file[len] != '/')
        return NULL;
    file += len;
    return file + strspn(file, "/");
}

const char *metrics_events_in_trial(const char *folder)
{
    return strcmp(folder, TRIAL_DIR_REFERENCE) == 0
               ? ""
               : metrics_file_in_trial(folder);
}

/* Whether some part of the path is "..". */
static bool is_climbing(const char *file)
{
    for (size_t len; *file != '\0'; file += len + (file[len] == '/')) {
        len = strcspn(file, "/");
        if (len == 2 && strncmp(file, "..", 2) == 0)
            return true;
    }
    return false;
}

/* Appends the parts of `path` to those in `out`, ".." takes one away. */
static void append_parts(struct text *out, const char *path)
{
    for (size_t len; *path != '\0'; path += len + (path[len] == '/')) {
        len = strcspn(path, "/");
        if (len == 0 || (len == 1 && path[0] == '.'))
            continue;
        if (len == 2 && strncmp(path, "..", 2) == 0) {
            while (out->len > 0 && out->data[--out->len] != '/')
                continue;
            continue;
        }
        text_puts(out, "/");
        text_append(out, path, len);
    }
}

/* Containers have own file systems, of which only the replica's
 * folder is read. */
const char *metrics_file_shared(struct arena *arena, const struct job *job)
{
    const char *file = job->metrics_file;
    if (file == NULL || job->n_pools == 0 || job_needs_images(job))
        return NULL;
    const char *rest = metrics_file_in_trial(file);
    const bool own =
        rest != NULL ||
        (file[0] != '/' && (job->own_workdir || job->workdir == NULL));
    if (own) /* one that would leave it is not read at all */
        return NULL;
    struct text out = {0};
    if (file[0] != '/')
        append_parts(&out, job->workdir);
    append_parts(&out, file);
    return text_take(&out, arena);
}

int64_t metrics_file_writers(const struct job *job)
{
    int64_t replicas = 0;
    for (size_t i = 0; i < job->n_pools; i++)
        replicas += job->pools[i].count;
    return replicas * (job->kind == JOB_CUSTOM ? 1 : job->parallel);
}

const char *metrics_file_repair(struct arena *arena, const struct job *job)
{
    const char *file = job->metrics_file;
    const char *slash = strrchr(file, '/');
    return arena_printf(arena, "file: " TRIAL_DIR_REFERENCE "/%.60s",
                        slash != NULL ? slash + 1 : file);
}

struct member { /* where the file is said */
    const struct node *node;
    const char *path;
};

static struct member find_file(const struct node *root)
{
    const struct node *ours =
        node_find(node_find(root, "hypertune"), "metricsFile");
    const struct node *file = node_find(node_find(root, "metrics"), "file");
    return ours != NULL ? (struct member){ours, "hypertune.metricsFile"}
                        : (struct member){file, "metrics.file"};
}

static struct member find_events(const struct node *root)
{
    const struct node *ours =
        node_find(node_find(root, "hypertune"), "metricsEvents");
    const struct node *events = node_find(node_find(root, "metrics"), "events");
    return ours != NULL ? (struct member){ours, "hypertune.metricsEvents"}
                        : (struct member){events, "metrics.events"};
}

static const char *last_part(const char *path)
{
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    return path + len;
}

/* A copy of the working folder has no event files of earlier runs. */
static bool is_trials_own(const struct job *job, const char *folder)
{
    return metrics_events_in_trial(folder) != NULL ||
           (folder[0] != '/' && (job->own_workdir || job->workdir == NULL ||
                                 job_needs_images(job)));
}

void metrics_events_check(const struct node *root, const struct job *job,
                          struct diag *diag)
{
    if (job->metrics_events == NULL || job->n_pools == 0)
        return;
    const struct member at = find_events(root);
    const int line = at.node != NULL ? at.node->line : 0;
    const int column = at.node != NULL ? at.node->column : 0;
    const char *folder = job->metrics_events;
    if (metrics_events_in_trial(folder) == NULL &&
        strstr(folder, TRIAL_DIR_REFERENCE) != NULL) {
        diag_error(diag, line, column, at.path,
                   TRIAL_DIR_REFERENCE " must be the first part of it");
        diag_hint(diag, "such as " TRIAL_DIR_REFERENCE "/logs");
    } else if (is_climbing(folder)) {
        diag_error(diag, line, column, at.path,
                   "leaves the trial's own folder by \"..\"");
    } else if (!is_trials_own(job, folder)) {
        diag_error(diag, line, column, at.path,
                   "all trials would write their event files there, and each "
                   "would get values of others");
        diag_hint(diag,
                  "events: " TRIAL_DIR_REFERENCE "/%.60s (in quotes within "
                  "braces), which the trainer writes in $HYPERTUNE_TRIAL_DIR%s",
                  last_part(folder),
                  folder[0] == '/' ? ""
                                   : "; or workdir: own, a copy for each "
                                     "trial");
    }
}

void metrics_file_check(const struct node *root, const struct job *job,
                        struct diag *diag)
{
    if (job->metrics_file == NULL || job->n_pools == 0)
        return;
    const struct member at = find_file(root);
    const int line = at.node != NULL ? at.node->line : 0;
    const int column = at.node != NULL ? at.node->column : 0;
    const char *file = job->metrics_file;
    const char *rest = metrics_file_in_trial(file);
    const bool shared = metrics_file_shared(diag->arena, job) != NULL;
    if (rest == NULL && strstr(file, TRIAL_DIR_REFERENCE) != NULL) {
        diag_error(diag, line, column, at.path,
                   TRIAL_DIR_REFERENCE " must be the first part of it");
        diag_hint(diag, "such as " TRIAL_DIR_REFERENCE "/out.csv");
    } else if (rest != NULL && *rest == '\0') {
        diag_error(diag, line, column, at.path, "is a folder, not a file");
        diag_hint(diag, "such as " TRIAL_DIR_REFERENCE "/out.csv");
    } else if (!shared && is_climbing(file)) {
        diag_error(diag, line, column, at.path,
                   "leaves the trial's own folder by \"..\"");
    } else if (shared && metrics_file_writers(job) > 1) {
        diag_error(diag, line, column, at.path,
                   "%lld processes at a time would write this one file, and "
                   "each trial would get values of others",
                   (long long)metrics_file_writers(job));
        diag_hint(diag,
                  "%s (in quotes within braces), which the trainer writes in "
                  "$HYPERTUNE_TRIAL_DIR%s",
                  metrics_file_repair(diag->arena, job),
                  file[0] == '/' ? ""
                                 : "; or workdir: own, a copy for each trial");
    }
}
