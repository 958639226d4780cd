/* dataset.h - the 1,797 images of handwritten digits and their split. */
#ifndef HT_EXAMPLES_DIGITS_DATASET_H
#define HT_EXAMPLES_DIGITS_DATASET_H

#include <stddef.h>
#include <stdint.h>

enum { DATASET_PIXELS = 64, DATASET_CLASSES = 10 };

struct image {
    float pixels[DATASET_PIXELS]; /* 0 (paper) to 1 (ink), row by row */
    unsigned char label;          /* the digit, 0 to 9 */
};

struct dataset {
    size_t n;
    struct image *images; /* owned */
};

/* Three disjoint parts of a data set: 60 % to learn from, 20 % to choose
 * hyperparameters by, 20 % to look at once in the end. */
struct split {
    size_t n_train, n_validation, n_test;
    size_t *train, *validation, *test; /* indices; one block owned by train */
};

/* Reads lines of 64 pixels (0 to 16) and a label, plain or gzip. On failure
 * says why in `fault` and returns -1, leaving the data set empty. */
int dataset_load(struct dataset *data, const char *path, size_t fault_size,
                 char fault[]);
void dataset_free(struct dataset *data);

/* The same seed gives the same parts. Needs 5 images at least; -1 when memory
 * runs out. */
int split_make(struct split *split, size_t n, uint64_t seed);
void split_free(struct split *split);

#endif
