/* random.h - the trainer's own random stream, so that equal flags give equal
 * figures on every machine. */
#ifndef HT_EXAMPLES_DIGITS_RANDOM_H
#define HT_EXAMPLES_DIGITS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_stream {
    uint64_t state; /* any value is a good seed */
};

uint64_t random_bits(struct random_stream *stream);
double random_unit(struct random_stream *stream);   /* uniform in [0, 1) */
double random_normal(struct random_stream *stream); /* mean 0, deviation 1 */

/* Puts n numbers in a random order, each order as likely as the others. */
void random_shuffle(struct random_stream *stream, size_t n, size_t items[]);

#endif
