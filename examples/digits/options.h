/* options.h - the trainer's flags. */
#ifndef HT_EXAMPLES_DIGITS_OPTIONS_H
#define HT_EXAMPLES_DIGITS_OPTIONS_H

#include <stdint.h>

#include "examples/digits/network.h"

struct options {
    double learning_rate, momentum, weight_decay;
    int64_t hidden_units, batch_size, epochs, seed;
    enum activation activation;
    const char *data; /* path, borrowed from argv */
};

/* Reads the flags over the defaults. Returns 0; 1 after --help was printed; -1
 * after a complaint on stderr. */
int options_read(int argc, char *argv[], struct options *options);

#endif
