/* network.h - a network with one hidden layer, learning by gradient descent.
 *
 * Softmax over ten classes, cross-entropy loss, momentum, weight decay. */
#ifndef HT_EXAMPLES_DIGITS_NETWORK_H
#define HT_EXAMPLES_DIGITS_NETWORK_H

#include <stddef.h>

#include "examples/digits/dataset.h"
#include "examples/digits/random.h"

enum activation { ACTIVATION_RELU, ACTIVATION_TANH, ACTIVATION_SIGMOID };

struct descent {
    float learning_rate;
    float momentum;     /* share of the last step that is kept, [0, 1) */
    float weight_decay; /* L2 penalty */
};

struct network; /* opaque */

/* Small random weights drawn from `stream`; NULL when memory runs out. */
struct network *network_new(size_t hidden, enum activation activation,
                            struct random_stream *stream);
void network_free(struct network *network); /* accepts NULL */

/* One step along the mean gradient of n images. Returns their loss before the
 * step, summed; not finite once the weights have diverged. */
double network_learn(struct network *network, const struct descent *descent,
                     const struct dataset *data, size_t n,
                     const size_t indices[]);

/* Share of the n images that are named rightly. */
double network_accuracy(struct network *network, const struct dataset *data,
                        size_t n, const size_t indices[]);

#endif
