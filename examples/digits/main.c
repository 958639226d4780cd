/* digits - a trainer as its author would write it, plus one line that reports
 * to the tuner. Outside a trial that line does nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/digits/dataset.h"
#include "examples/digits/network.h"
#include "examples/digits/options.h"
#include "examples/digits/random.h"
#include "hypertune/hypertune.h"

/* Shows every training image once, in a new order; returns the mean loss. */
static double run_epoch(struct network *network, const struct options *options,
                        const struct dataset *data, const struct split *split,
                        struct random_stream *stream)
{
    const struct descent descent = {
        .learning_rate = (float)options->learning_rate,
        .momentum = (float)options->momentum,
        .weight_decay = (float)options->weight_decay,
    };
    const size_t batch = (size_t)options->batch_size;
    double loss = 0.0;
    random_shuffle(stream, split->n_train, split->train);
    for (size_t at = 0; at < split->n_train; at += batch) {
        size_t left = split->n_train - at;
        loss += network_learn(network, &descent, data,
                              left < batch ? left : batch, split->train + at);
    }
    return loss / (double)split->n_train;
}

static void train(struct network *network, const struct options *options,
                  const struct dataset *data, const struct split *split,
                  struct random_stream *stream)
{
    for (int64_t epoch = 1; epoch <= options->epochs; epoch++) {
        double loss = run_epoch(network, options, data, split, stream);
        double accuracy = network_accuracy(network, data, split->n_validation,
                                           split->validation);
        printf("epoch %lld: loss %.4f, validation accuracy %.4f\n",
               (long long)epoch, loss, accuracy);
        if (report_hyperparameter_tuning_metric("accuracy", accuracy, epoch,
                                                NULL) != 0)
            fprintf(stderr, "digits: epoch %lld was not reported\n",
                    (long long)epoch);
        if (!isfinite(loss)) {
            printf("the loss has diverged, more epochs cannot help\n");
            return;
        }
        if (hypertune_should_stop()) {
            printf("the tuner asks to stop\n");
            return;
        }
    }
}

/* The test images are looked at once, when nothing is left to choose: with the
 * weights of the last epoch, the ones whose validation accuracy the tuner
 * took as the trial's result. */
static int train_and_test(const struct options *options,
                          const struct dataset *data, struct split *split)
{
    struct random_stream stream = {(uint64_t)options->seed ^ 0xD161757};
    struct network *network = network_new((size_t)options->hidden_units,
                                          options->activation, &stream);
    if (network == NULL) {
        fprintf(stderr, "digits: out of memory\n");
        return EXIT_FAILURE;
    }
    train(network, options, data, split, &stream);
    printf("test accuracy %.4f\n",
           network_accuracy(network, data, split->n_test, split->test));
    network_free(network);
    return EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
    struct options options;
    int parsed = options_read(argc, argv, &options);
    if (parsed != 0)
        return parsed > 0 ? EXIT_SUCCESS : 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct dataset data;
    char fault[160];
    if (dataset_load(&data, options.data, sizeof fault, fault) != 0) {
        fprintf(stderr, "digits: %s: %s\n", options.data, fault);
        return 2;
    }
    struct split split;
    if (split_make(&split, data.n, (uint64_t)options.seed) != 0) {
        fprintf(stderr, "digits: out of memory\n");
        dataset_free(&data);
        return EXIT_FAILURE;
    }
    int result = train_and_test(&options, &data, &split);
    split_free(&split);
    dataset_free(&data);
    return result;
}
