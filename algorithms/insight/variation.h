/* variation.h - how a model's mean varies over a space, and which coordinates
 * it varies by.
 *
 * Coordinates are drawn independently, as random search would; what has no
 * place beside the others is then left out, so that whether a coordinate is
 * there counts for what decides it. Of the variance a coordinate explains its
 * first-order share alone, its total share with all its interactions (Sobol;
 * estimators of Saltelli et al., "Variance based sensitivity analysis of model
 * output", 2010, and of Jansen, 1999), and between them its Shapley effect,
 * where each interaction is shared out evenly among its coordinates (Owen,
 * "Sobol' indices and Shapley value", 2014; by random orders as Song, Nelson,
 * Staum, "Shapley effects for global sensitivity analysis", 2016). Shapley
 * effects sum to 1. */
#ifndef HT_ALGORITHMS_INSIGHT_VARIATION_H
#define HT_ALGORITHMS_INSIGHT_VARIATION_H

struct landscape {
    const struct encoding *encoding;
    const struct absence *absence; /* NULL: conditions say what is left out */
    const struct goal_model *model;
};

struct variation {
    double share, alone, total; /* 0 to 1; alone <= share <= total */
};

/* Writes the shares of each coordinate in what the model expects of a value,
 * in the units of the observations; far outliers count as the last place
 * before them. All are 0 where it expects the same everywhere. */
void variation_find(const struct landscape *landscape,
                    struct variation variations[]);

#endif
