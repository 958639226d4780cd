/* Any bytes as the answer to a batch of reports: what libhypertune makes of it
 * is within its limits.
 *
 * fuzz-with: hypertune */
#include "hypertune/lib/report_answer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size > 0 ? size : 1); /* exact: overreads are seen */
    memcpy(text, data, size);
    const struct report_answer answer =
        report_answer_read(text, size, "00000000000000aa");
    if (answer.retry_ms < 0 || answer.thin < 1 || answer.have < -1)
        abort();
    if (answer.status == ANSWER_OK && memchr(text, '{', size) == NULL)
        abort();
    free(text);
    return 0;
}
