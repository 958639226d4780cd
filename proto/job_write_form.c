#include <string.h>

#include "proto/job.h"
#include "proto/job_native.h"

enum ht_status job_write_form(const struct job *job, const char *form,
                              struct diag *losses, cJSON **out,
                              struct ht_error *err)
{
    if (strcmp(form, "vertex") == 0) {
        *out = job_write_vertex(job);
        return HT_OK;
    }
    if (space_shares_names(&job->space))
        return ht_fail(err, HT_PRECONDITION,
                       "only the form \"vertex\" has words for parameters "
                       "that share a name");
    if (strcmp(form, "aip") == 0) {
        *out = job_write_aip(job, losses);
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
    job_native_omits(job, losses);
    *out = job_write_native(job);
    return HT_OK;
}
