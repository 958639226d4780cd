#include "hypertune/cli/frame/csv.h"

#include <stdlib.h>
#include <string.h>

static const char formula_starts[] = "=+-@\t";

static bool is_formula(const char *value)
{
    char *end;
    if (value[0] == '\0' || strchr(formula_starts, value[0]) == NULL)
        return false;
    strtod(value, &end);
    return end == value || *end != '\0';
}

void csv_field(const char *value, struct text *out)
{
    const char *guard = is_formula(value) ? "'" : "";
    if (value[strcspn(value, ",\"\r\n")] == '\0') {
        text_puts(out, guard);
        text_puts(out, value);
        return;
    }
    text_puts(out, "\"");
    text_puts(out, guard);
    for (; *value != '\0'; value++) {
        if (*value == '"')
            text_puts(out, "\"");
        text_append(out, value, 1);
    }
    text_puts(out, "\"");
}

/* Appends a quoted field's content; stops behind the closing quote. */
static void read_quoted(struct csv_reader *reader, struct text *field)
{
    for (reader->at++; *reader->at != '\0'; reader->at++) {
        if (*reader->at == '"') {
            if (reader->at[1] != '"')
                break;
            reader->at++;
        }
        reader->line += *reader->at == '\n';
        text_append(field, reader->at, 1);
    }
    reader->at += *reader->at == '"';
}

static const char *read_field(struct csv_reader *reader, struct arena *arena)
{
    struct text field = {0};
    if (*reader->at == '"')
        read_quoted(reader, &field);
    size_t len = strcspn(reader->at, ",\r\n");
    text_append(&field, reader->at, len);
    reader->at += len;
    const char *value = text_string(&field);
    if (value[0] == '\'' && is_formula(value + 1))
        value++;
    char *kept = arena_strdup(arena, value);
    text_free(&field);
    return kept;
}

static void skip_line_end(struct csv_reader *reader)
{
    reader->at += *reader->at == '\r';
    reader->line += *reader->at == '\n';
    reader->at += *reader->at == '\n';
}

bool csv_read(struct csv_reader *reader, struct arena *arena,
              struct csv_record *record)
{
    while (*reader->at == '\r' || *reader->at == '\n')
        skip_line_end(reader);
    if (*reader->at == '\0')
        return false;
    struct csv_record read = {.line = reader->line};
    const char **fields = NULL;
    for (;;) {
        fields = arena_grow(arena, fields, read.n, sizeof *fields);
        fields[read.n++] = read_field(reader, arena);
        if (*reader->at != ',')
            break;
        reader->at++;
    }
    skip_line_end(reader);
    read.fields = fields;
    *record = read;
    return true;
}
