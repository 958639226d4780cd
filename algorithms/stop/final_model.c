#include "algorithms/stop/final_model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/model/gp_fit.h"
#include "algorithms/model/leave_one_out.h"
#include "algorithms/space/encoding.h"
#include "algorithms/stop/learning_curve.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"

enum {
    MOST_ROWS = 100, /* more teach little and cost a cube */
    SHAPE = 4        /* coordinates that tell the shape of a curve */
};

/* Shapes lie within three deviations of their mean on the unit cube. */
static const double shape_range = 6;
/* A curve says more of its end than its parameters do: these count half. */
static const double parameter_share = 0.5;
/* Of the spread of results: the least that a model is unsure of. */
static const double least_share = 0.01;
/* A gain is the less sure the larger it is and the longer the way: this share
 * of it for every e times as long. */
static const double far_share = 0.1;
/* Trials that are asked about are not like those that ended by themselves: as
 * many times the variance is what bench_stop finds. */
static const double stranger = 2;
/* Where bent values end, at some 75 times the usual distance from the middle:
 * what diverged is bad, and how bad teaches nothing. */
static const double most_bent = 5;
/* A whole curve teaches at the place in question and at this share of it. */
static const double earlier = 1.0 / 3;

/* One thing that a curve teaches: how it went on from a place. Slow and fast
 * learners go the same way in different times, so what counts is how many
 * times longer it went on, which is the same in all rows. */
struct row {
    const struct stop_curve *curve;
    double from, to;     /* places */
    double shape[SHAPE]; /* at `from` */
    double gain;         /* from there */
};

struct spread {
    double mean, deviation;
};

/* Values as asinh((y - middle) / scale): straight where most of them are, a
 * logarithm far from there, so that no outlier rules. */
struct bend {
    double middle, scale;
};

/* All that is known of one goal; values are bent. */
struct lesson {
    size_t n;
    struct row *rows;
    struct bend bend;
    double doubt; /* deviation of a gain by the way, as a share of it */
    struct spread shape[SHAPE], gain, end;
};

struct belief { /* of a bent result */
    double mean, deviation;
};

/* ---- what can be learnt from ---- */

bool final_model_place(const struct stop_study *study, double *at)
{
    if (study->options->max_steps > 0) {
        *at = (double)study->options->max_steps;
        return true;
    }
    double *ends = ht_xcalloc(study->n + 1, sizeof *ends);
    size_t n = 0;
    for (size_t i = 0; i < study->n; i++) {
        const struct learning_curve view = {&study->curves[i], 0};
        if (study->curves[i].end == STOP_END_WHOLE)
            n += learning_curve_end(&view, &ends[n]);
    }
    if (n > 0)
        *at = learning_curve_median(n, ends);
    free(ends);
    return n > 0;
}

double final_model_best(const struct stop_study *study, size_t goal, size_t *n)
{
    double best = NAN;
    *n = 0;
    for (size_t i = 0; i < study->n; i++) {
        if (study->curves[i].end != STOP_END_WHOLE ||
            !isfinite(study->curves[i].finals[goal]))
            continue;
        best = fmax(best, study->curves[i].finals[goal]);
        ++*n;
    }
    return best;
}

/* The value at the end of a row, the result where it is the curve's end. */
static double end_value(const struct row *row, size_t goal)
{
    const struct learning_curve view = {row->curve, goal};
    double value = NAN, end = 0;
    learning_curve_end(&view, &end);
    if (row->curve->end == STOP_END_WHOLE && row->to >= end)
        return row->curve->finals[goal];
    learning_curve_value(&view, row->to, &value);
    return value;
}

static void add_row(struct lesson *lesson, size_t goal, const struct row *row)
{
    const struct learning_curve view = {row->curve, goal};
    if (lesson->n < MOST_ROWS && row->to > row->from &&
        learning_curve_count(&view, row->from) > 0 &&
        isfinite(end_value(row, goal)))
        lesson->rows[lesson->n++] = *row;
}

static double bend_apply(const struct bend *bend, double y)
{
    const double bent = asinh((y - bend->middle) / bend->scale);
    return fmin(fmax(bent, -most_bent), most_bent);
}

static double bend_undo(const struct bend *bend, double bent)
{
    return bend->middle + bend->scale * sinh(bent);
}

/* The value, how it came there over the last half of the way and the half
 * before, and how far below its best it is. */
static void read_shape(const struct bend *bend, const struct stop_curve *curve,
                       size_t goal, double at, double shape[SHAPE])
{
    const struct learning_curve view = {curve, goal};
    double now = 0, half = 0, quarter = 0, best = 0;
    learning_curve_value(&view, at, &now);
    learning_curve_value(&view, at / 2, &half);
    learning_curve_value(&view, at / 4, &quarter);
    learning_curve_best(&view, at, &best);
    shape[0] = bend_apply(bend, now);
    shape[1] = shape[0] - bend_apply(bend, half);
    shape[2] = bend_apply(bend, half) - bend_apply(bend, quarter);
    shape[3] = bend_apply(bend, best) - shape[0];
}

/* Middle and scale are the median and the median distance from it. */
static void find_bend(struct lesson *lesson, size_t goal)
{
    const size_t n = 2 * lesson->n;
    double *values = ht_xcalloc(n, sizeof *values);
    for (size_t i = 0; i < lesson->n; i++) {
        const struct row *row = &lesson->rows[i];
        const struct learning_curve view = {row->curve, goal};
        learning_curve_value(&view, row->from, &values[2 * i]);
        values[2 * i + 1] = end_value(row, goal);
    }
    lesson->bend.middle = learning_curve_median(n, values);
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - lesson->bend.middle);
    const double scale = learning_curve_median(n, values);
    lesson->bend.scale = scale > 0 ? scale : fmax(values[n - 1], DBL_MIN);
    free(values);
}

static struct spread spread_of(size_t n, const double v[])
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - mean) * (v[i] - mean) / (double)n;
    return (struct spread){mean, sqrt(squares)};
}

static void find_spreads(struct lesson *lesson)
{
    double *v = ht_xcalloc(lesson->n, sizeof *v);
    for (size_t c = 0; c < SHAPE; c++) {
        for (size_t i = 0; i < lesson->n; i++)
            v[i] = lesson->rows[i].shape[c];
        lesson->shape[c] = spread_of(lesson->n, v);
    }
    for (size_t i = 0; i < lesson->n; i++)
        v[i] = lesson->rows[i].gain;
    lesson->gain = spread_of(lesson->n, v);
    for (size_t i = 0; i < lesson->n; i++)
        v[i] += lesson->rows[i].shape[0];
    lesson->end = spread_of(lesson->n, v);
    free(v);
}

/* Newest first, what ended by itself before the rest. */
static size_t choose_rows(struct lesson *lesson, const struct stop_study *study,
                          size_t goal, double at, double end)
{
    size_t whole = 0;
    for (size_t i = study->n; i > 0; i--) {
        const struct stop_curve *curve = &study->curves[i - 1];
        if (curve->end != STOP_END_WHOLE)
            continue;
        const struct row last = {.curve = curve, .from = at, .to = end};
        const struct row before = {
            .curve = curve, .from = at * earlier, .to = end * earlier};
        const size_t had = lesson->n;
        add_row(lesson, goal, &last);
        whole += lesson->n > had;
        add_row(lesson, goal, &before);
    }
    for (size_t i = study->n; i > 0; i--) {
        const struct stop_curve *curve = &study->curves[i - 1];
        const struct learning_curve view = {curve, goal};
        struct row row = {.curve = curve};
        if (curve->end == STOP_END_WHOLE || !learning_curve_end(&view, &row.to))
            continue;
        row.from = row.to * at / end;
        add_row(lesson, goal, &row);
    }
    return whole;
}

/* Returns whether there is enough to learn from; lesson_fini() either way. */
static bool lesson_init(struct lesson *lesson, const struct stop_study *study,
                        size_t goal, double at, double end)
{
    *lesson = (struct lesson){.doubt = far_share * log(end / at)};
    lesson->rows = ht_xcalloc(MOST_ROWS, sizeof *lesson->rows);
    if (choose_rows(lesson, study, goal, at, end) < FINAL_CURVES)
        return false;
    find_bend(lesson, goal);
    for (size_t i = 0; i < lesson->n; i++) {
        struct row *row = &lesson->rows[i];
        read_shape(&lesson->bend, row->curve, goal, row->from, row->shape);
        row->gain =
            bend_apply(&lesson->bend, end_value(row, goal)) - row->shape[0];
    }
    find_spreads(lesson);
    return true;
}

static void lesson_fini(struct lesson *lesson)
{
    free(lesson->rows);
}

/* ---- the model ---- */

/* The space's coordinates behind those of the shape, as many as have room. */
static void widen(struct encoding *wide, const struct encoding *own)
{
    *wide = *own;
    const size_t room = HT_MAX_PARAMETERS - SHAPE;
    wide->dim = SHAPE + (own->dim < room ? own->dim : room);
    for (size_t c = 0; c < SHAPE; c++)
        wide->at[c] = (struct coordinate){.kind = COORDINATE_CONTINUOUS};
    memcpy(wide->at + SHAPE, own->at, (wide->dim - SHAPE) * sizeof *own->at);
}

static void place_curve(const struct lesson *lesson,
                        const struct encoding *wide, const struct encoding *own,
                        const double shape[SHAPE],
                        const struct stop_curve *curve, double x[])
{
    double point[HT_MAX_PARAMETERS];
    for (size_t c = 0; c < SHAPE; c++) {
        const struct spread *all = &lesson->shape[c];
        const double z =
            all->deviation > 0 ? (shape[c] - all->mean) / all->deviation : 0;
        x[c] = fmin(fmax(0.5 + z / shape_range, 0), 1);
    }
    encoding_encode(own, curve->point, point);
    for (size_t c = SHAPE; c < wide->dim; c++) {
        const double u = point[c - SHAPE];
        const bool scales =
            wide->at[c].kind != COORDINATE_CATEGORY && u != COORDINATE_ABSENT;
        x[c] = scales ? parameter_share * u : u;
    }
}

/* What is to come of a fitted model at x, no surer than its own past guesses
 * allow: of few curves the most likely noise is often too small. */
static bool ask(struct gp *gp, const double x[], double *mean, double *variance)
{
    double theta[HYPER_MAX];
    struct gp_fit *fit = gp_fit_new(gp, PRIOR_LONG);
    const bool found =
        isfinite(gp_fit_find(fit, 0, 1, theta)) != 0 && gp_condition(gp, theta);
    gp_fit_free(fit);
    if (!found)
        return false;
    const size_t n = gp->n_seen;
    double *means = ht_xcalloc(2 * n, sizeof *means), *variances = means + n;
    leave_one_out(gp, means, variances);
    double excess = 0;
    for (size_t i = 0; i < n; i++)
        excess += (gp->y[i] - means[i]) * (gp->y[i] - means[i]) / variances[i];
    free(means);
    gp_predict(gp, 1, x, mean, variance);
    *variance =
        (*variance + gp->noise) * stranger * fmax(1, excess / (double)n);
    return true;
}

static bool believe(const struct stop_study *study, const struct lesson *lesson,
                    const struct stop_curve *current, const double shape[SHAPE],
                    struct belief *belief)
{
    struct encoding own, wide;
    double x[HT_MAX_PARAMETERS], mean = 0, variance = 0;
    const double spread = lesson->gain.deviation;
    bool known = true;
    encoding_init(&own, study->setting->space);
    widen(&wide, &own);
    if (spread > 0) {
        struct gp *gp = gp_new(&wide, lesson->n, true);
        for (size_t i = 0; i < lesson->n; i++) {
            const struct row *row = &lesson->rows[i];
            place_curve(lesson, &wide, &own, row->shape, row->curve, x);
            const double far = lesson->doubt * row->gain / spread;
            gp_add(gp, x, (row->gain - lesson->gain.mean) / spread, far * far);
        }
        place_curve(lesson, &wide, &own, shape, current, x);
        known = ask(gp, x, &mean, &variance);
        gp_free(gp);
    }
    encoding_fini(&own);
    const double far = lesson->doubt * (lesson->gain.mean + spread * mean);
    if (spread > 0)
        variance += far * far / (spread * spread);
    *belief = (struct belief){
        shape[0] + lesson->gain.mean + spread * mean,
        fmax(spread * sqrt(variance), least_share * lesson->end.deviation)};
    return known && isfinite(belief->mean) && isfinite(belief->deviation);
}

/* ---- predictions ---- */

static bool predict_goal(const struct stop_study *study, size_t current,
                         size_t goal, struct stop_prediction *prediction)
{
    const struct stop_curve *curve = &study->curves[current];
    const struct learning_curve view = {curve, goal};
    struct lesson lesson;
    struct belief belief;
    double shape[SHAPE], at, end;
    if (!learning_curve_end(&view, &at) || at <= 0 ||
        !final_model_place(study, &end))
        return false;
    bool known = lesson_init(&lesson, study, goal, at, end);
    if (known) {
        read_shape(&lesson.bend, curve, goal, at, shape);
        known = believe(study, &lesson, curve, shape, &belief);
    }
    if (known) {
        const struct bend *bend = &lesson.bend;
        const double half = (bend_undo(bend, belief.mean + belief.deviation) -
                             bend_undo(bend, belief.mean - belief.deviation)) /
                            2;
        prediction->final[goal] = bend_undo(bend, belief.mean);
        prediction->variance[goal] = half * half;
        known = isfinite(prediction->final[goal]) && isfinite(half);
    }
    lesson_fini(&lesson);
    return known;
}

/* Of a value at most as large. */
static double probability_below(double value, double mean, double variance)
{
    if (variance == 0)
        return value >= mean ? 1 : 0;
    return 0.5 * erfc((mean - value) / sqrt(2 * variance));
}

double final_model_probability(const struct stop_study *study,
                               const struct stop_prediction *prediction)
{
    double most = 0;
    for (size_t i = 0; i < study->n; i++) {
        const struct stop_curve *curve = &study->curves[i];
        double worse = curve->end == STOP_END_WHOLE ? 1 : 0;
        for (size_t k = 0; worse > 0 && k < study->setting->n_goals; k++)
            if (!study->setting->goals[k].safety)
                worse *= isfinite(curve->finals[k])
                             ? probability_below(curve->finals[k],
                                                 prediction->final[k],
                                                 prediction->variance[k])
                             : 0;
        most = fmax(most, worse);
    }
    return 1 - most;
}

void final_model_predict(const struct stop_study *study, size_t current,
                         struct stop_prediction *prediction)
{
    struct stop_prediction made = {0};
    made.known = final_model_place(study, &made.at);
    for (size_t k = 0; k < study->setting->n_goals; k++) {
        made.final[k] = made.variance[k] = NAN;
        const bool objective = !study->setting->goals[k].safety;
        if (!predict_goal(study, current, k, &made) && objective)
            made.known = false;
    }
    if (made.known)
        made.probability = final_model_probability(study, &made);
    if (made.known)
        *prediction = made;
}
