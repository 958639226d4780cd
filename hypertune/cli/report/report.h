/* report.h - a study as one page of HTML, to send to others: without scripts,
 * and without anything that is loaded from elsewhere. */
#ifndef HT_HYPERTUNE_CLI_REPORT_REPORT_H
#define HT_HYPERTUNE_CLI_REPORT_REPORT_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/text.h"

/* Appends the page, as the study is now; *trials is how many it has then.
 * Errors are those of cli_http_call(). */
enum ht_status report_write(struct cli *cli, const struct cli_study *study,
                            struct text *out, size_t *trials,
                            struct ht_error *err);

#endif
