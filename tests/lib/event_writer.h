/* event_writer.h - writes event files of TensorBoard, bit by bit so that it
 * shares nothing with what reads them. */
#ifndef HT_TESTS_LIB_EVENT_WRITER_H
#define HT_TESTS_LIB_EVENT_WRITER_H

#include <stdint.h>

#include "proto/base/text.h"

/* As TFRecord has it. */
uint32_t event_writer_sum(const char *bytes, size_t len);

/* Appends the message as a record. */
void event_writer_record(struct text *out, const struct text *event);

/* Appends an event of time 1.5 with one value of the old kind; the texts are
 * short, the step is below 128. */
void event_writer_scalar(struct text *out, const char *tag, int step,
                         float value);

#endif
