/* output.h - resources of the server in the formats of -o. */
#ifndef HT_HYPERTUNE_CLI_FRAME_OUTPUT_H
#define HT_HYPERTUNE_CLI_FRAME_OUTPUT_H

#include <cjson/cJSON.h>

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/frame/table.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

/* Appends one resource as JSON (indented), one JSON line, or YAML. True when
 * the format is one of these; otherwise nothing is appended. */
bool cli_output_resource(enum cli_format format, const struct node *resource,
                         struct text *out);

/* The same for one of several resources, `index` counting them from 0: JSON
 * becomes an array, YAML a stream of documents. After the last one
 * cli_output_end() ends the list; n is their number. */
bool cli_output_item(enum cli_format format, const struct node *resource,
                     size_t index, struct text *out);
/* The same for an object that was made here, which is released. */
void cli_output_object(enum cli_format format, cJSON *object, size_t index,
                       struct text *out);
/* Only JSON needs it; it does nothing for other formats. */
void cli_output_end(enum cli_format format, size_t n, struct text *out);

/* Appends a table as -o has it; without rows only for table, wide and csv. */
void cli_output_table(const struct cli *cli, const struct table *table,
                      struct text *out);

/* What a cell without a value has: "-" for people, "" for programs. */
const char *cli_output_nothing(const struct cli *cli);
/* A cell of a wall time, or of 0 for none, as -o csv has it. */
void cli_output_time_cell(int64_t wall_ms, struct table *table);

/* "1d", "2h14m": the age of a wall time. */
void cli_output_age(int64_t then_ms, int64_t now_ms, struct text *out);

/* Appends "512 B", "1.5 MiB": an amount of memory or disk. */
void cli_output_bytes(int64_t bytes, struct text *out);
/* The same as a string of the arena. */
const char *cli_output_size(struct arena *arena, int64_t bytes);

#endif
