#include "examples/digits/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights lie input by input: input_weights[i * hidden + j] leads from pixel i
 * to unit j, so the inner loops run over neighbours in memory and blank pixels
 * (half of an image) are skipped whole. */
struct network {
    size_t hidden;
    enum activation activation;
    size_t n;          /* weights of all kinds */
    float *weights;    /* owned; the four parts below, in this order */
    float *gradient;   /* the same layout */
    float *velocity;   /* the same layout */
    float *units;      /* hidden: their outputs for the image at hand */
    float *unit_slope; /* hidden: derivative of the loss by their inputs */
};

/* Where the parts of a weight vector begin. */
struct layers {
    float *input_weights;  /* DATASET_PIXELS * hidden */
    float *input_bias;     /* hidden */
    float *output_weights; /* DATASET_CLASSES * hidden */
    float *output_bias;    /* DATASET_CLASSES */
};

static struct layers layers_of(const struct network *network, float *vector)
{
    struct layers layers;
    layers.input_weights = vector;
    layers.input_bias = vector + DATASET_PIXELS * network->hidden;
    layers.output_weights = layers.input_bias + network->hidden;
    layers.output_bias =
        layers.output_weights + DATASET_CLASSES * network->hidden;
    return layers;
}

static void draw_weights(struct network *network, struct random_stream *stream)
{
    struct layers layers = layers_of(network, network->weights);
    /* He's deviation sqrt(2 / inputs) keeps the signal's size through ReLU;
     * Glorot's choice for the other two is close enough to share it. */
    const double first = sqrt(2.0 / DATASET_PIXELS);
    const double second = sqrt(1.0 / (double)network->hidden);
    for (size_t i = 0; i < DATASET_PIXELS * network->hidden; i++)
        layers.input_weights[i] = (float)(first * random_normal(stream));
    for (size_t i = 0; i < DATASET_CLASSES * network->hidden; i++)
        layers.output_weights[i] = (float)(second * random_normal(stream));
}

struct network *network_new(size_t hidden, enum activation activation,
                            struct random_stream *stream)
{
    struct network *network = calloc(1, sizeof *network);
    if (network == NULL)
        return NULL;
    network->hidden = hidden;
    network->activation = activation;
    network->n =
        (DATASET_PIXELS + 1 + DATASET_CLASSES) * hidden + DATASET_CLASSES;
    network->weights = calloc(network->n, sizeof(float));
    network->gradient = calloc(network->n, sizeof(float));
    network->velocity = calloc(network->n, sizeof(float));
    network->units = calloc(hidden, sizeof(float));
    network->unit_slope = calloc(hidden, sizeof(float));
    if (network->weights == NULL || network->gradient == NULL ||
        network->velocity == NULL || network->units == NULL ||
        network->unit_slope == NULL) {
        network_free(network);
        return NULL;
    }
    draw_weights(network, stream);
    return network;
}

void network_free(struct network *network)
{
    if (network == NULL)
        return;
    free(network->weights);
    free(network->gradient);
    free(network->velocity);
    free(network->units);
    free(network->unit_slope);
    free(network);
}

static float activate(enum activation activation, float x)
{
    switch (activation) {
    case ACTIVATION_TANH:
        return tanhf(x);
    case ACTIVATION_SIGMOID:
        return 1.0f / (1.0f + expf(-x));
    case ACTIVATION_RELU:
        break;
    }
    return x > 0.0f ? x : 0.0f;
}

/* The derivative, from the function's own value. */
static float slope(enum activation activation, float y)
{
    switch (activation) {
    case ACTIVATION_TANH:
        return 1.0f - y * y;
    case ACTIVATION_SIGMOID:
        return y * (1.0f - y);
    case ACTIVATION_RELU:
        break;
    }
    return y > 0.0f ? 1.0f : 0.0f;
}

/* Fills network->units and the ten outputs for one image. */
static void forward(struct network *network, const struct image *image,
                    float outputs[DATASET_CLASSES])
{
    const size_t hidden = network->hidden;
    const struct layers layers = layers_of(network, network->weights);
    float *units = network->units;
    memcpy(units, layers.input_bias, hidden * sizeof *units);
    for (size_t i = 0; i < DATASET_PIXELS; i++) {
        const float ink = image->pixels[i];
        const float *row = layers.input_weights + i * hidden;
        for (size_t j = 0; ink != 0.0f && j < hidden; j++)
            units[j] += ink * row[j];
    }
    for (size_t j = 0; j < hidden; j++)
        units[j] = activate(network->activation, units[j]);
    for (size_t k = 0; k < DATASET_CLASSES; k++) {
        const float *row = layers.output_weights + k * hidden;
        float sum = layers.output_bias[k];
        for (size_t j = 0; j < hidden; j++)
            sum += units[j] * row[j];
        outputs[k] = sum;
    }
}

/* Turns outputs into the derivative of the loss by them (probability minus
 * truth) and returns the loss. The largest output is taken off first, so that
 * exp() cannot overflow. */
static double softmax_loss(float outputs[DATASET_CLASSES], size_t label)
{
    float top = outputs[0];
    for (size_t k = 1; k < DATASET_CLASSES; k++)
        top = fmaxf(top, outputs[k]);
    double loss = -(double)(outputs[label] - top), sum = 0.0;
    for (size_t k = 0; k < DATASET_CLASSES; k++) {
        outputs[k] = expf(outputs[k] - top);
        sum += (double)outputs[k];
    }
    for (size_t k = 0; k < DATASET_CLASSES; k++)
        outputs[k] = (float)((double)outputs[k] / sum);
    outputs[label] -= 1.0f;
    return loss + log(sum);
}

/* Adds one image's gradient, given the derivative by its outputs. */
static void backward(struct network *network, const struct image *image,
                     const float output_slope[DATASET_CLASSES])
{
    const size_t hidden = network->hidden;
    const struct layers weights = layers_of(network, network->weights);
    const struct layers gradient = layers_of(network, network->gradient);
    float *unit_slope = network->unit_slope;
    memset(unit_slope, 0, hidden * sizeof *unit_slope);
    for (size_t k = 0; k < DATASET_CLASSES; k++) {
        const float *row = weights.output_weights + k * hidden;
        float *row_gradient = gradient.output_weights + k * hidden;
        for (size_t j = 0; j < hidden; j++) {
            unit_slope[j] += output_slope[k] * row[j];
            row_gradient[j] += output_slope[k] * network->units[j];
        }
        gradient.output_bias[k] += output_slope[k];
    }
    for (size_t j = 0; j < hidden; j++) {
        unit_slope[j] *= slope(network->activation, network->units[j]);
        gradient.input_bias[j] += unit_slope[j];
    }
    for (size_t i = 0; i < DATASET_PIXELS; i++) {
        const float ink = image->pixels[i];
        float *row_gradient = gradient.input_weights + i * hidden;
        for (size_t j = 0; ink != 0.0f && j < hidden; j++)
            row_gradient[j] += ink * unit_slope[j];
    }
}

static void step(struct network *network, const struct descent *descent,
                 size_t n)
{
    const float share = 1.0f / (float)n;
    for (size_t i = 0; i < network->n; i++) {
        float pull = network->gradient[i] * share +
                     descent->weight_decay * network->weights[i];
        network->velocity[i] = descent->momentum * network->velocity[i] -
                               descent->learning_rate * pull;
        network->weights[i] += network->velocity[i];
    }
}

double network_learn(struct network *network, const struct descent *descent,
                     const struct dataset *data, size_t n,
                     const size_t indices[])
{
    double loss = 0.0;
    memset(network->gradient, 0, network->n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        const struct image *image = &data->images[indices[i]];
        float outputs[DATASET_CLASSES];
        forward(network, image, outputs);
        loss += softmax_loss(outputs, image->label);
        backward(network, image, outputs);
    }
    step(network, descent, n);
    return loss;
}

double network_accuracy(struct network *network, const struct dataset *data,
                        size_t n, const size_t indices[])
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++) {
        const struct image *image = &data->images[indices[i]];
        float outputs[DATASET_CLASSES];
        forward(network, image, outputs);
        size_t best = 0;
        for (size_t k = 1; k < DATASET_CLASSES; k++)
            best = outputs[k] > outputs[best] ? k : best;
        right += best == image->label;
    }
    return (double)right / (double)n;
}
