/* What is believed of hyperparameters, against differences and by effect. */
#include <math.h>

#include "algorithms/algorithm.h"
#include "algorithms/gp_fit.h"
#include "algorithms/prior.h"
#include "tests/check.h"

static const enum prior priors[] = {PRIOR_LONG, PRIOR_UNIT};
static const enum noise noises[] = {NOISE_UNKNOWN, NOISE_LOW, NOISE_HIGH};

static struct param line_param = {.name = "x", .type = PARAM_DOUBLE, .max = 1};
static const struct space line = {1, &line_param};

static void check_gradient(enum prior prior, enum noise noise)
{
    double theta[4] = {-0.7, 0.4, 0.2, -4.5}, unused[4] = {0};
    double gradient[4] = {1, 2, 3, 4};
    prior_add(prior, noise, 2, theta, gradient);
    for (size_t i = 0; i < 4; i++) {
        const double h = 1e-5, at = theta[i];
        theta[i] = at + h;
        const double above = prior_add(prior, noise, 2, theta, unused);
        theta[i] = at - h;
        const double below = prior_add(prior, noise, 2, theta, unused);
        theta[i] = at;
        CHECK(fabs(gradient[i] - (double)(i + 1) - (above - below) / (2 * h)) <
              1e-7);
    }
}

static void gradients_are_added_and_are_those_of_differences(void)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++)
            check_gradient(priors[i], noises[k]);
}

/* The deviation of noise that a fit finds in a wave with a little of it. */
static double found_noise(enum prior prior, enum noise noise)
{
    struct encoding encoding;
    double theta[3];
    encoding_init(&encoding, &line);
    struct gp *gp = gp_new(&encoding, 12, true);
    for (size_t i = 0; i < 12; i++) {
        const double x = (double)i / 11;
        gp_add(gp, &x, 1.4 * sin(7 * x) + (i % 2 == 0 ? 0.02 : -0.02), 0);
    }
    struct gp_fit *fit = gp_fit_new(gp, prior);
    gp_fit_expect(fit, noise);
    gp_fit_find(fit, 1, 2, theta);
    gp_fit_free(fit);
    gp_free(gp);
    encoding_fini(&encoding);
    return exp(theta[2] / 2);
}

static void what_is_said_of_the_noise_is_believed_where_data_are_few(void)
{
    for (size_t i = 0; i < 2; i++) {
        const double unknown = found_noise(priors[i], NOISE_UNKNOWN);
        CHECK(found_noise(priors[i], NOISE_LOW) < 0.8 * unknown);
        CHECK(found_noise(priors[i], NOISE_HIGH) > 1.5 * unknown);
    }
}

int main(void)
{
    algorithms_init();
    RUN(gradients_are_added_and_are_those_of_differences);
    RUN(what_is_said_of_the_noise_is_believed_where_data_are_few);
    return check_done();
}
