#include "tuner/tracker/tfevents.h"

#include <string.h>

#include "proto/base/crc32c.h"
#include "proto/space/space.h"

/* --- protobuf --- */

/* How a field's value is encoded, the low bits of its tag. */
enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static void put_varint(struct text *out, uint64_t value)
{
    do {
        const char byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        text_append(out, &byte, 1);
        value >>= 7;
    } while (value != 0);
}

/* Low byte first. */
static void put_fixed(struct text *out, uint64_t bits, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const char byte = (char)(bits >> 8 * i);
        text_append(out, &byte, 1);
    }
}

static void put_tag(struct text *out, unsigned field, enum wire wire)
{
    put_varint(out, field << 3 | wire);
}

static void put_int(struct text *out, unsigned field, int64_t value)
{
    put_tag(out, field, VARINT);
    put_varint(out, (uint64_t)value);
}

static void put_double(struct text *out, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_tag(out, field, FIXED64);
    put_fixed(out, bits, 8);
}

static void put_float(struct text *out, unsigned field, double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_tag(out, field, FIXED32);
    put_fixed(out, bits, 4);
}

static void put_bytes(struct text *out, unsigned field, const char *bytes,
                      size_t len)
{
    put_tag(out, field, BYTES);
    put_varint(out, len);
    text_append(out, bytes, len);
}

static void put_string(struct text *out, unsigned field, const char *string)
{
    put_bytes(out, field, string, strlen(string));
}

/* Takes the message over. */
static void put_message(struct text *out, unsigned field, struct text *message)
{
    put_bytes(out, field, text_string(message), message->len);
    text_free(message);
}

/* --- records --- */

/* TFRecord's, so that a checksum within a record differs from the record's. */
static uint32_t masked_crc(const char *bytes, size_t len)
{
    const uint32_t crc = crc32c(0, bytes, len);
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

/* Takes the event over. */
static void put_record(struct text *out, struct text *event)
{
    struct text len = {0};
    put_fixed(&len, event->len, 8);
    text_append(out, len.data, len.len);
    put_fixed(out, masked_crc(len.data, len.len), 4);
    text_append(out, event->data, event->len);
    put_fixed(out, masked_crc(event->data, event->len), 4);
    text_free(&len);
    text_free(event);
}

void tfevents_version(struct text *out, int64_t wall_ms)
{
    struct text event = {0};
    put_double(&event, 1, (double)wall_ms / 1000);
    put_string(&event, 3, "brain.Event:2");
    put_record(out, &event);
}

/* An event with one value of a summary, which is taken over. */
static void put_summary(struct text *out, int64_t wall_ms, int64_t step,
                        struct text *value)
{
    struct text event = {0}, summary = {0};
    put_double(&event, 1, (double)wall_ms / 1000);
    put_int(&event, 2, step);
    put_message(&summary, 1, value);
    put_message(&event, 5, &summary);
    put_record(out, &event);
}

void tfevents_scalar(struct text *out, const struct tfevents_scalar *scalar)
{
    struct text value = {0};
    put_string(&value, 1, scalar->tag);
    put_float(&value, 2, scalar->value);
    put_summary(out, scalar->wall_ms, scalar->step, &value);
}

/* --- the HPARAMS page --- */

/* Its data are in the metadata of a summary that has no values: `data` is
 * taken over as that field of HParamsPluginData. */
static void put_hparams(struct text *out, int64_t wall_ms, const char *tag,
                        unsigned field, struct text *data)
{
    enum { DT_FLOAT = 1 };
    struct text value = {0}, metadata = {0}, plugin = {0}, content = {0};
    struct text tensor = {0}, shape = {0}, dimension = {0};
    put_message(&content, field, data);
    put_string(&plugin, 1, "hparams");
    put_message(&plugin, 2, &content);
    put_message(&metadata, 1, &plugin);
    put_int(&dimension, 1, 0);
    put_message(&shape, 2, &dimension);
    put_int(&tensor, 1, DT_FLOAT);
    put_message(&tensor, 2, &shape);
    put_string(&value, 1, tag);
    put_message(&value, 8, &tensor);
    put_message(&value, 9, &metadata);
    put_summary(out, wall_ms, 0, &value);
}

/* google.protobuf.Value */
enum { NUMBER_VALUE = 2, STRING_VALUE = 3 };

static struct text number_value(double number)
{
    struct text value = {0};
    put_double(&value, NUMBER_VALUE, number);
    return value;
}

static struct text string_value(const char *string)
{
    struct text value = {0};
    put_string(&value, STRING_VALUE, string);
    return value;
}

/* All that trials may have, former ones too: the page hides trials with
 * others. */
static struct text value_list(const struct param *param)
{
    struct text list = {0};
    for (size_t i = 0; i < param->n_values + param->n_former; i++) {
        struct text value = param->type == PARAM_DISCRETE
                                ? number_value(param->numbers[i])
                                : string_value(param->labels[i]);
        put_message(&list, 1, &value);
    }
    return list;
}

static struct text interval(double min, double max)
{
    struct text message = {0};
    put_double(&message, 1, min);
    put_double(&message, 2, max);
    return message;
}

static struct text param_info(const struct param *param)
{
    enum { TEXTS = 1, NUMBERS = 3 };
    struct text info = {0}, domain;
    put_string(&info, 1, param->name);
    put_int(&info, 4, param->type == PARAM_CATEGORICAL ? TEXTS : NUMBERS);
    if (param->type == PARAM_DOUBLE)
        domain = interval(param->min, param->max);
    else if (param->type == PARAM_INTEGER)
        domain = interval((double)param->int_min, (double)param->int_max);
    else
        domain = value_list(param);
    const bool has_values =
        param->type == PARAM_DISCRETE || param->type == PARAM_CATEGORICAL;
    put_message(&info, has_values ? 5 : 6, &domain);
    return info;
}

void tfevents_experiment(struct text *out, int64_t wall_ms, const char *name,
                         const struct job *job, const char *prefix)
{
    struct text experiment = {0};
    put_double(&experiment, 3, (double)wall_ms / 1000);
    for (size_t i = 0; i < job->space.n; i++) {
        const struct param *param = &job->space.params[i];
        if (space_find(&job->space, param->name) != (int)i)
            continue; /* shares its name, and the page has it once */
        struct text info = param_info(param);
        put_message(&experiment, 4, &info);
    }
    for (size_t i = 0; i < job->n_metrics; i++) {
        struct text info = {0}, metric = {0}, tag = {0};
        text_printf(&tag, "%s%s", prefix, job->metrics[i].name);
        put_string(&metric, 2, tag.data);
        put_message(&info, 1, &metric);
        put_string(&info, 3, job->metrics[i].name);
        put_message(&experiment, 5, &info);
        text_free(&tag);
    }
    put_string(&experiment, 6, name);
    put_hparams(out, wall_ms, "_hparams_/experiment", 2, &experiment);
}

void tfevents_session_start(struct text *out, int64_t wall_ms,
                            const struct node *params)
{
    struct text start = {0};
    for (const struct node *one = node_items(params); one; one = one->next) {
        struct text entry = {0}, value = {0};
        double number;
        if (node_double(one, &number))
            value = number_value(number);
        else if (node_string(one) != NULL)
            value = string_value(node_string(one));
        put_string(&entry, 1, one->key);
        put_message(&entry, 2, &value);
        put_message(&start, 1, &entry);
    }
    put_double(&start, 5, (double)wall_ms / 1000);
    put_hparams(out, wall_ms, "_hparams_/session_start_info", 3, &start);
}

void tfevents_session_end(struct text *out, int64_t wall_ms, bool succeeded)
{
    enum { SUCCESS = 1, FAILURE = 2 };
    struct text end = {0};
    put_int(&end, 1, succeeded ? SUCCESS : FAILURE);
    put_double(&end, 2, (double)wall_ms / 1000);
    put_hparams(out, wall_ms, "_hparams_/session_end_info", 4, &end);
}
