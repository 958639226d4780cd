#include "examples/digits/dataset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "examples/digits/random.h"

/* Reads one number of a line and the separator behind it. */
static int read_cell(char **cursor, long max, char separator, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(*cursor, &end, 10);
    if (end == *cursor || errno != 0 || *value < 0 || *value > max)
        return -1;
    if (separator == '\n' && *end == '\r')
        end++;
    if (*end != separator && !(separator == '\n' && *end == '\0'))
        return -1;
    *cursor = end + 1;
    return 0;
}

static int read_image(char *line, struct image *image)
{
    enum { INK = 16 }; /* a pixel counts the dark dots of a 4x4 block */
    long value;
    for (size_t i = 0; i < DATASET_PIXELS; i++) {
        if (read_cell(&line, INK, ',', &value) != 0)
            return -1;
        image->pixels[i] = (float)value / INK;
    }
    if (read_cell(&line, DATASET_CLASSES - 1, '\n', &value) != 0)
        return -1;
    image->label = (unsigned char)value;
    return 0;
}

static int append(struct dataset *data, size_t *room, const struct image *image)
{
    if (data->n == *room) {
        size_t larger = *room ? *room * 2 : 2048;
        struct image *images =
            reallocarray(data->images, larger, sizeof *images);
        if (images == NULL)
            return -1;
        data->images = images;
        *room = larger;
    }
    data->images[data->n++] = *image;
    return 0;
}

static int read_images(struct dataset *data, gzFile file, size_t fault_size,
                       char fault[])
{
    char line[512]; /* 65 numbers of at most two digits and commas */
    size_t room = 0;
    for (size_t number = 1; gzgets(file, line, sizeof line); number++) {
        struct image image;
        if (read_image(line, &image) != 0) {
            snprintf(fault, fault_size,
                     "line %zu is not 64 pixels of 0 to 16 and a digit",
                     number);
            return -1;
        }
        if (append(data, &room, &image) != 0) {
            snprintf(fault, fault_size, "out of memory");
            return -1;
        }
    }
    int code;
    const char *why = gzerror(file, &code);
    if (code != Z_OK && code != Z_STREAM_END) {
        snprintf(fault, fault_size, "%s", why);
        return -1;
    }
    if (data->n < 5) {
        snprintf(fault, fault_size, "%zu images are too few to split", data->n);
        return -1;
    }
    return 0;
}

int dataset_load(struct dataset *data, const char *path, size_t fault_size,
                 char fault[])
{
    *data = (struct dataset){0};
    errno = 0;
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        snprintf(fault, fault_size, "%s",
                 errno ? strerror(errno) : "out of memory");
        return -1;
    }
    int result = read_images(data, file, fault_size, fault);
    gzclose(file);
    if (result != 0)
        dataset_free(data);
    return result;
}

void dataset_free(struct dataset *data)
{
    free(data->images);
    *data = (struct dataset){0};
}

int split_make(struct split *split, size_t n, uint64_t seed)
{
    size_t *order = calloc(n, sizeof *order);
    if (order == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    struct random_stream stream = {seed};
    random_shuffle(&stream, n, order);
    split->n_validation = n / 5;
    split->n_test = n / 5;
    split->n_train = n - split->n_validation - split->n_test;
    split->train = order;
    split->validation = order + split->n_train;
    split->test = split->validation + split->n_validation;
    return 0;
}

void split_free(struct split *split)
{
    free(split->train);
    *split = (struct split){0};
}
