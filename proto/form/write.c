#include <string.h>

#include "proto/form/native.h"
#include "proto/job/check.h"

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
