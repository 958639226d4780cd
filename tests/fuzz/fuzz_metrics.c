/* Any bytes as a metrics file of the user's own program, line by line: what is
 * read of it is a report that the server takes.
 *
 * fuzz-with: runner */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "runner/reports/metrics_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *names[] = {"accuracy", "val/loss", "step"};
static const struct strings metrics = {3, names};

static void check_report(const struct report *report)
{
    if (report->n_metrics < 1 || report->n_metrics > HT_MAX_METRICS)
        abort();
    for (size_t i = 0; i < report->n_metrics; i++) {
        bool known = false;
        for (size_t k = 0; k < metrics.n; k++)
            known = known || strcmp(report->metrics[i].name, names[k]) == 0;
        if (!known)
            abort();
    }
}

static void read_line(struct metrics_header *header, const char *text,
                      size_t len, bool first)
{
    struct arena *arena = arena_new();
    struct report report = {0};
    const struct metrics_line line = metrics_line_parse(arena, text, len);
    const struct strings found = metrics_line_names(arena, &line);
    if (line.csv && found.n > METRICS_LINE_COLUMNS)
        abort();
    if (!metrics_line_read_header(header, &metrics, &line, first) &&
        metrics_line_read(arena, header, &metrics, &line, &report))
        check_report(&report);
    if (header->n > METRICS_LINE_COLUMNS)
        abort();
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_init();
    struct metrics_header header = {0};
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t len = end == NULL ? size - at : (size_t)(end - data) - at;
        char *text = malloc(len > 0 ? len : 1); /* exact */
        memcpy(text, data + at, len);
        read_line(&header, text, len, at == 0);
        free(text);
        at += len + 1;
    }
    return 0;
}
