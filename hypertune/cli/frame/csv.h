/* csv.h - records of RFC 4180, written for spreadsheets and read back. */
#ifndef HT_HYPERTUNE_CLI_FRAME_CSV_H
#define HT_HYPERTUNE_CLI_FRAME_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

/* Appends one field, quoted when it has to be. Text that a spreadsheet would
 * take for a formula (it begins with = + - @ or a tab and is no number) gets
 * an apostrophe in front, as spreadsheets themselves write it. */
void csv_field(const char *value, struct text *out);

/* One record; its fields are in the arena that it was read into. */
struct csv_record {
    size_t n;
    const char *const *fields;
    int line; /* on which it begins, from 1 */
};

struct csv_reader {
    const char *at; /* rest of a NUL-terminated text */
    int line;       /* of `at`, from 1 */
};

/* Reads the next record, also with CRLF, blank lines skipped, apostrophes of
 * csv_field() taken off. False at the end. A quote that is not closed runs to
 * the end of the text. */
bool csv_read(struct csv_reader *reader, struct arena *arena,
              struct csv_record *record);

#endif
