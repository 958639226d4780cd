#include "runner/shim/event_file.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "proto/base/crc32c.h"

enum { HEAD = 12, FOOT = 4 }; /* length and its sum; the sum over the data */

/* ---- TFRecord (tensorflow.org/tutorials/load_data/tfrecord) ---- */

static uint32_t load32(const char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

static uint64_t load64(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return le64toh(value);
}

/* Masked as TFRecord has it. */
static uint32_t sum_of(const char *bytes, size_t len)
{
    const uint32_t crc = crc32c(0, bytes, len);
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

/* ---- protocol buffers (protobuf.dev/programming-guides/encoding) ---- */

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct message {
    const char *at, *end;
};

struct field {
    uint64_t number;
    enum wire wire;
    uint64_t value; /* of a number, as its bits */
    struct message bytes;
};

static bool read_varint(struct message *message, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && message->at < message->end; shift += 7) {
        const unsigned char byte = (unsigned char)*message->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_value(struct message *message, struct field *field)
{
    const size_t left = (size_t)(message->end - message->at);
    switch (field->wire) {
    case VARINT:
        return read_varint(message, &field->value);
    case FIXED64:
        if (left < 8)
            return false;
        field->value = load64(message->at);
        message->at += 8;
        return true;
    case FIXED32:
        if (left < 4)
            return false;
        field->value = load32(message->at);
        message->at += 4;
        return true;
    case BYTES:
        if (!read_varint(message, &field->value) ||
            field->value > (size_t)(message->end - message->at))
            return false;
        field->bytes =
            (struct message){message->at, message->at + field->value};
        message->at += field->value;
        return true;
    }
    return false;
}

/* False: there is no further field, or it cannot be read. */
static bool next_field(struct message *message, struct field *field)
{
    uint64_t key;
    if (message->at == message->end || !read_varint(message, &key))
        return false;
    *field = (struct field){.number = key >> 3, .wire = key & 7};
    return read_value(message, field);
}

static double float_of(uint64_t bits)
{
    float value;
    const uint32_t low = (uint32_t)bits;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- tensorflow.Event, its Summary and TensorProto ---- */

enum dtype { DT_FLOAT = 1, DT_DOUBLE = 2, DT_INT32 = 3, DT_INT64 = 9 };

struct tensor {
    uint64_t dtype;
    bool shaped; /* it has dimensions: it is no scalar */
    size_t n;    /* values */
    double value;
};

static double decode(uint64_t dtype, uint64_t bits)
{
    switch (dtype) {
    case DT_FLOAT:
        return float_of(bits);
    case DT_DOUBLE:
        return double_of(bits);
    case DT_INT32:
        return (double)(int32_t)bits;
    default:
        return (double)(int64_t)bits;
    }
}

/* The bytes of one number; packed lists of the small types are varints. */
static bool read_packed(uint64_t dtype, struct message bytes, bool content,
                        uint64_t *bits)
{
    const size_t len = (size_t)(bytes.end - bytes.at);
    const bool wide = dtype == DT_DOUBLE || (content && dtype == DT_INT64);
    const bool narrow = dtype == DT_FLOAT || (content && dtype == DT_INT32);
    if (wide && len == 8)
        *bits = load64(bytes.at);
    else if (narrow && len == 4)
        *bits = load32(bytes.at);
    else if (wide || narrow)
        return false;
    else
        return read_varint(&bytes, bits) && bytes.at == bytes.end;
    return true;
}

/* dtype 1, tensor_shape 2 with dim 2, tensor_content 4, and the lists float_val
 * 5, double_val 6, int_val 7, int64_val 10; dtype is written before. */
static void read_tensor_field(struct tensor *tensor, struct field *field)
{
    uint64_t bits = field->value;
    switch (field->number) {
    case 1:
        tensor->dtype = field->value;
        return;
    case 2:
        tensor->shaped = field->bytes.at != field->bytes.end;
        return;
    case 4:
    case 5:
    case 6:
    case 7:
    case 10:
        if (field->wire == BYTES && !read_packed(tensor->dtype, field->bytes,
                                                 field->number == 4, &bits))
            tensor->n++; /* not one number */
        tensor->n++;
        tensor->value = decode(tensor->dtype, bits);
        return;
    default:
        return;
    }
}

static bool read_tensor(struct message message, double *value)
{
    struct tensor tensor = {.dtype = 0};
    struct field field;
    while (next_field(&message, &field))
        read_tensor_field(&tensor, &field);
    *value = tensor.value;
    return message.at == message.end && !tensor.shaped && tensor.n == 1 &&
           (tensor.dtype == DT_FLOAT || tensor.dtype == DT_DOUBLE ||
            tensor.dtype == DT_INT32 || tensor.dtype == DT_INT64);
}

/* Of a Summary.Value: tag 1, simple_value 2, tensor 8. */
static bool read_scalar(struct message message, struct event_scalar *scalar)
{
    struct field field;
    bool found = false;
    scalar->tag_len = 0;
    while (next_field(&message, &field)) {
        if (field.number == 1 && field.wire == BYTES) {
            scalar->tag = field.bytes.at;
            scalar->tag_len = (size_t)(field.bytes.end - field.bytes.at);
        } else if (field.number == 2 && field.wire == FIXED32) {
            scalar->value = float_of(field.value);
            found = true;
        } else if (field.number == 8 && field.wire == BYTES) {
            found = read_tensor(field.bytes, &scalar->value);
        }
    }
    return found && message.at == message.end && scalar->tag_len > 0;
}

/* Of an Event: wall_time 1, step 2, summary 5 with its values 1. */
static void read_event(struct message message, event_take *take, void *context)
{
    struct event_scalar scalar = {.step = 0};
    struct message summary = {NULL, NULL};
    struct field field;
    while (next_field(&message, &field)) {
        if (field.number == 1 && field.wire == FIXED64)
            scalar.wall_s = double_of(field.value);
        else if (field.number == 2 && field.wire == VARINT)
            scalar.step = (int64_t)field.value;
        else if (field.number == 5 && field.wire == BYTES)
            summary = field.bytes;
    }
    while (summary.at != NULL && next_field(&summary, &field))
        if (field.number == 1 && field.wire == BYTES &&
            read_scalar(field.bytes, &scalar))
            take(context, &scalar);
}

enum ht_status event_file_read(const char *bytes, size_t len, event_take *take,
                               void *context, uint64_t *used,
                               struct ht_error *err)
{
    *used = 0;
    while (*used < len && len - *used >= HEAD) {
        const char *record = bytes + *used;
        const uint64_t size = load64(record);
        if (sum_of(record, 8) != load32(record + 8) || size > INT64_MAX / 2)
            return ht_fail(err, HT_CORRUPT, "no record begins there");
        if (size <= EVENT_RECORD_BYTES) {
            if (len - *used < HEAD + size + FOOT)
                return HT_OK;
            if (sum_of(record + HEAD, size) != load32(record + HEAD + size))
                return ht_fail(err, HT_CORRUPT, "a record has a wrong sum");
            read_event((struct message){record + HEAD, record + HEAD + size},
                       take, context);
        }
        *used += HEAD + size + FOOT;
    }
    return HT_OK;
}
