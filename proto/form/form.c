#include <string.h>

#include "proto/doc/field.h"
#include "proto/form/foreign.h"
#include "proto/form/form.h"
#include "proto/form/native.h"
#include "proto/form/optuna.h"
#include "proto/job/draft.h"
#include "proto/job/job.h"

/* What tells the forms of a spec file apart: members that only one has. */
enum form { FORM_NONE, FORM_NATIVE, FORM_TUNING, FORM_CUSTOM, FORM_AIP };

struct mark {
    const char *member;
    enum form form;
};

static const struct mark marks[] = {{"trainingInput", FORM_AIP},
                                    {"studySpec", FORM_TUNING},
                                    {"trialJobSpec", FORM_TUNING},
                                    {"jobSpec", FORM_CUSTOM},
                                    {"workerPoolSpecs", FORM_CUSTOM},
                                    {"spec", FORM_NATIVE},
                                    {"goal", FORM_NATIVE},
                                    {"parameters", FORM_NATIVE},
                                    {"command", FORM_NATIVE}};

/* Members of trainingInput that people put one level too high, as
 * some other tools have them there. */
static const char *const inner[] = {
    "hyperparameters", "scaleTier",   "masterConfig", "masterType",
    "workerConfig",    "workerCount", "pythonModule", "packageUris"};

static const char *form_name(enum form form)
{
    switch (form) {
    case FORM_NONE:
    case FORM_NATIVE:
        return "a spec of hypertune";
    case FORM_TUNING:
        return "a Vertex tuning job";
    case FORM_CUSTOM:
        return "a Vertex custom job";
    case FORM_AIP:
        return "an AI Platform job";
    }
    return "";
}

static enum form form_of(const struct node *member)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(marks[i].member, member->key) == 0)
            return marks[i].form;
    return FORM_NONE;
}

/* The form of the first member that tells one; false when another member
 * tells another. */
static bool find_form(const struct field_reader *reader,
                      const struct node *root, enum form *form)
{
    const struct node *first = NULL;
    *form = FORM_NONE;
    for (const struct node *node = root->first; node; node = node->next) {
        enum form named = form_of(node);
        if (named == FORM_NONE || named == *form)
            continue;
        if (first) {
            field_key_error(reader, (struct place){node, node->key},
                            "belongs to %s, but %s to %s", form_name(named),
                            first->key, form_name(*form));
            diag_hint(reader->diag, "a file has one of the forms");
            return false;
        }
        first = node;
        *form = named;
    }
    return true;
}

/* Is it an AI Platform config without its outer level? */
static bool is_unwrapped(const struct field_reader *reader,
                         const struct node *root)
{
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        const struct node *node = node_find(root, inner[i]);
        if (node == NULL)
            continue;
        field_key_error(reader, (struct place){node, node->key},
                        "belongs into trainingInput");
        diag_hint(reader->diag,
                  "begin with \"trainingInput:\" and indent the rest");
        return true;
    }
    return false;
}

/* Is it another object of Kubernetes? They have a "spec", too. */
static bool is_kubernetes(const struct field_reader *reader,
                          const struct node *root)
{
    const struct node *version = node_find(root, "apiVersion");
    if (version == NULL)
        return false;
    field_key_error(reader, (struct place){version, version->key},
                    "belongs to an object of Kubernetes");
    diag_hint(reader->diag, "of those only an Experiment of Katib is read");
    return true;
}

/* `gcloud ai custom-jobs create --config` takes the content of jobSpec alone.
 */
static struct job *read_custom_spec(const struct node *root, struct diag *diag)
{
    struct node *job = arena_alloc(diag->arena, 1, sizeof *job);
    struct node *spec = arena_alloc(diag->arena, 1, sizeof *spec);
    *job = *spec = *root;
    spec->key = "jobSpec";
    spec->key_line = root->line;
    spec->key_column = root->column;
    spec->next = NULL;
    job->first = spec;
    job->count = 1;
    return vertex_read(job, JOB_CUSTOM, diag);
}

/* ---- other tuners' files ---- */

static const struct {
    bool (*is_one)(const struct node *root);
    struct job *(*read)(const struct node *root, struct diag *diag);
} foreign[] = {{katib_is_experiment, katib_read},
               {hydra_is_sweep, hydra_read},
               {wandb_is_sweep, wandb_read}};

/* It says neither what to run nor what to improve. */
static bool is_space(const struct field_reader *reader, const struct node *root)
{
    if (!optuna_is_space(root))
        return false;
    field_error(reader, (struct place){root, ""},
                "is a search space of Optuna, without a goal and a command");
    diag_hint(reader->diag, "hypertune run FILE --minimize loss -- python3 "
                            "train.py");
    return true;
}

struct job *form_read(const struct node *root, struct diag *diag)
{
    const struct field_reader reader = {.diag = diag, .arena = diag->arena};
    enum form form = FORM_NONE;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (foreign[i].is_one(root))
            return foreign[i].read(root, diag);
    if (root->kind == NODE_MAP &&
        (is_kubernetes(&reader, root) || is_space(&reader, root) ||
         !find_form(&reader, root, &form)))
        return NULL;
    switch (form) {
    case FORM_NONE:
        if (is_unwrapped(&reader, root))
            return NULL;
        return native_read(root, diag);
    case FORM_NATIVE:
        return native_read(root, diag);
    case FORM_TUNING:
        return vertex_read(root, JOB_TUNING, diag);
    case FORM_CUSTOM:
        return node_find(root, "jobSpec") ? vertex_read(root, JOB_CUSTOM, diag)
                                          : read_custom_spec(root, diag);
    case FORM_AIP:
        return aip_read(root, diag);
    }
    return NULL;
}

const char *form_dialect_name(enum job_dialect form)
{
    return field_choice_name(job_dialects, (int)form);
}

/* Trainers of several pools look for them in CLUSTER_SPEC. */
static void warn_of_names(const struct job *job, struct diag *losses)
{
    if (job->form == JOB_VERTEX && job->n_pools > 1)
        diag_warning(losses, 0, 0, "workerPoolSpecs",
                     "CLUSTER_SPEC calls them master, worker, ps and "
                     "evaluator then, not workerpool0 to workerpool3");
}

enum ht_status form_write(const struct job *job, const char *form,
                          struct diag *losses, cJSON **out,
                          struct ht_error *err)
{
    if (strcmp(form, "vertex") == 0) {
        *out = vertex_write(job);
        return HT_OK;
    }
    if (space_shares_names(&job->space))
        return ht_fail(err, HT_PRECONDITION,
                       "only the form \"vertex\" has words for parameters "
                       "that share a name");
    if (strcmp(form, "aip") == 0) {
        warn_of_names(job, losses);
        *out = aip_write(job, losses);
        return HT_OK;
    }
    if (strcmp(form, "native") != 0)
        return ht_fail(err, HT_INVALID,
                       "form: must be native, vertex or aip, is \"%.32s\"",
                       form);
    if (job->kind == JOB_CUSTOM)
        return ht_fail(err, HT_PRECONDITION,
                       "a job without hyperparameters has no native form; "
                       "there are \"vertex\" and \"aip\"");
    warn_of_names(job, losses);
    native_omits(job, losses);
    *out = native_write(job);
    return HT_OK;
}
