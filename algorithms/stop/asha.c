#include "algorithms/stop/asha.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/model/pareto.h"
#include "algorithms/stop/early_stop.h"
#include "algorithms/stop/final_model.h"
#include "algorithms/stop/learning_curve.h"
#include "proto/base/arena.h"

/* One trial of three continues: with more, a good trial whose start is slow is
 * lost more often; with fewer, little is saved. */
enum { USUAL_FACTOR = 3 };

/* A larger factor would leave too much of the way below the first rung. */
enum { USUAL_RUNGS = 3 };

/* --- ladders --- */

static double usual_share(double factor)
{
    return fmax(STOP_SHARE, pow(factor, -USUAL_RUNGS));
}

struct asha_ladder asha_ladder(const struct early_stop *options)
{
    struct asha_ladder ladder = {
        .first = (double)options->min_steps,
        .factor = options->factor > 0 ? (double)options->factor : USUAL_FACTOR,
        .top = options->max_steps > 0 ? (double)options->max_steps : INFINITY};
    if (options->min_steps > 0)
        return ladder;
    /* So many reports take as many steps at least. */
    ladder.first = options->by_time ? 1 : STOP_REPORTS;
    if (isfinite(ladder.top))
        ladder.first =
            fmax(ladder.first, ceil(ladder.top * usual_share(ladder.factor)));
    return ladder;
}

double asha_place(const struct asha_ladder *ladder, int64_t rung)
{
    double place = ladder->first;
    for (int64_t i = 0; i < rung; i++)
        place *= ladder->factor;
    return place;
}

int64_t asha_reached(const struct asha_ladder *ladder, double at)
{
    int64_t rung = -1;
    double place = ladder->first;
    while (place <= at && place < ladder->top) {
        rung++;
        place *= ladder->factor;
    }
    return rung;
}

/* Which ladder the trial of an ordinal climbs; those with the same first rung
 * compete. */
typedef struct asha_ladder ladder_function(const struct early_stop *options,
                                           uint64_t ordinal);

/* --- trials at a rung --- */

/* The trials that came to one rung of one ladder. */
struct rung {
    size_t m;       /* objectives */
    size_t n;       /* trials */
    size_t *curves; /* owned, in order */
    size_t *ahead;  /* owned: how many there are ahead of each */
    double *ranked; /* owned: with one objective, all values, best first */
};

struct climb { /* what is asked for */
    const struct stop_study *study;
    ladder_function *choose;
};

/* Writes the objectives at a place; false where one is not known that far. */
static bool values_at(const struct stop_study *study, size_t i, double place,
                      double values[])
{
    size_t m = 0;
    for (size_t k = 0; k < study->setting->n_goals; k++) {
        const struct learning_curve curve = {&study->curves[i], k};
        double end;
        if (study->setting->goals[k].safety)
            continue;
        if (!learning_curve_end(&curve, &end) || end < place ||
            !learning_curve_value(&curve, place, &values[m++]))
            return false;
    }
    return m > 0;
}

static int descending(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left < *right) - (*left > *right);
}

/* How many of the ranked values are better. */
static size_t count_better(const struct rung *rung, double value)
{
    size_t low = 0, high = rung->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rung->ranked[middle] > value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* By their values, a row for each. */
static void rung_sort(struct rung *rung, const double values[])
{
    rung->ahead = ht_xcalloc(rung->n + 1, sizeof *rung->ahead);
    rung->ranked = ht_xcalloc(rung->n + 1, sizeof *rung->ranked);
    if (rung->m > 1) {
        pareto_ranks(rung->m, rung->n, values, rung->ahead);
        return;
    }
    memcpy(rung->ranked, values, rung->n * sizeof *rung->ranked);
    qsort(rung->ranked, rung->n, sizeof *rung->ranked, descending);
    for (size_t i = 0; i < rung->n; i++)
        rung->ahead[i] = count_better(rung, values[i]);
}

static struct rung rung_read(const struct climb *climb,
                             const struct asha_ladder *ladder, int64_t number)
{
    const struct stop_study *study = climb->study;
    const double place = asha_place(ladder, number);
    struct rung rung = {.m = setting_objectives(study->setting)};
    rung.curves = ht_xcalloc(study->n + 1, sizeof *rung.curves);
    double *values = ht_xcalloc((study->n + 1) * (rung.m + 1), sizeof *values);
    for (size_t i = 0; i < study->n; i++) {
        const struct asha_ladder own =
            climb->choose(study->options, study->curves[i].ordinal);
        if (own.first == ladder->first &&
            values_at(study, i, place, &values[rung.n * rung.m]))
            rung.curves[rung.n++] = i;
    }
    rung_sort(&rung, values);
    free(values);
    return rung;
}

static void rung_free(struct rung *rung)
{
    free(rung->curves);
    free(rung->ahead);
    free(rung->ranked);
}

static int compare_curves(const void *a, const void *b)
{
    const size_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* How many there are ahead of the trial, at most `most`; `most` for one that is
 * not there. */
static size_t rung_rank(const struct rung *rung, size_t curve, size_t most)
{
    const size_t *at = bsearch(&curve, rung->curves, rung->n,
                               sizeof *rung->curves, compare_curves);
    const size_t ahead = at == NULL ? most : rung->ahead[at - rung->curves];
    return ahead < most ? ahead : most;
}

/* How many continue where others may follow: whole places only. */
static size_t rung_places(const struct rung *rung,
                          const struct asha_ladder *ladder)
{
    return rung->n / (size_t)ladder->factor;
}

/* How many continue for good: a part of a place is one. */
static size_t rung_last_places(const struct rung *rung,
                               const struct asha_ladder *ladder)
{
    const size_t factor = (size_t)ladder->factor;
    return (rung->n + factor - 1) / factor;
}

/* The same where the others stop: none does before `factor` trials came. */
static size_t rung_safe_places(const struct rung *rung,
                               const struct asha_ladder *ladder)
{
    return rung->n < (size_t)ladder->factor ? rung->n
                                            : rung_last_places(rung, ladder);
}

/* The worst value that has room, where one objective ranks the trials. */
static double rung_threshold(const struct rung *rung, size_t room)
{
    return rung->m == 1 && room > 0 ? rung->ranked[room - 1] : NAN;
}

/* --- what stops would have come to --- */

/* Trials that continued are no fair sample of the others: half of the
 * distance to them is doubted. */
static const double doubt = 0.5;
/* Of what trials differ by: the least that is assumed. */
static const double least_variance = 0.01;

/* Trials that a variance is estimated from. */
enum { FEWEST = 3 };

struct gain {      /* of a goal from one place to another */
    size_t n;      /* trials that came to both */
    double mean;   /* gain */
    double spread; /* its variance */
    double start;  /* mean of the values that they started from */
};

static bool goal_at(const struct stop_study *study, size_t i, size_t goal,
                    double place, double *value)
{
    const struct learning_curve curve = {&study->curves[i], goal};
    double end;
    return learning_curve_end(&curve, &end) && end >= place &&
           learning_curve_value(&curve, place, value);
}

static struct gain gain_between(const struct stop_study *study, size_t goal,
                                double from, double to)
{
    struct gain gain = {0};
    double squares = 0, before, after;
    for (size_t i = 0; i < study->n; i++) {
        if (!goal_at(study, i, goal, to, &after) ||
            !goal_at(study, i, goal, from, &before))
            continue;
        gain.n++;
        gain.start += (before - gain.start) / (double)gain.n;
        const double off = after - before - gain.mean;
        gain.mean += off / (double)gain.n;
        squares += off * (after - before - gain.mean);
    }
    gain.spread = gain.n > 1 ? squares / (double)(gain.n - 1) : 0;
    return gain;
}

/* The place where the goal is known farthest. */
static double farthest(const struct stop_study *study, size_t goal)
{
    double place = 0;
    for (size_t i = 0; i < study->n; i++) {
        const struct learning_curve curve = {&study->curves[i], goal};
        double end;
        if (learning_curve_end(&curve, &end))
            place = fmax(place, end);
    }
    return place;
}

/* The variance of the values at a place; 0: not known. */
static double spread_at(const struct stop_study *study, size_t goal,
                        double place)
{
    double mean = 0, squares = 0, value;
    size_t n = 0;
    for (size_t i = 0; i < study->n; i++) {
        if (!goal_at(study, i, goal, place, &value))
            continue;
        const double off = value - mean;
        mean += off / (double)++n;
        squares += off * (value - mean);
    }
    return n >= FEWEST ? squares / (double)(n - 1) : 0;
}

/* How much of the way from a place to the top no trial has gone yet, by
 * factors; half of it where the top is not known. */
static double way_left(const struct asha_ladder *ladder, double place,
                       double end)
{
    if (!isfinite(ladder->top))
        return 0.5;
    return end < ladder->top ? log(ladder->top / end) / log(ladder->top / place)
                             : 0;
}

/* From rung to rung the trial gains what those gained that went on, as far as
 * any trial came: so results of different rungs can be compared. Beyond that
 * trials may still change places. */
static void predict_goal(const struct stop_study *study,
                         const struct asha_ladder *ladder, size_t goal,
                         struct stop_verdict *verdict)
{
    struct stop_prediction *prediction = &verdict->prediction;
    const double from = verdict->at, end = fmax(from, farthest(study, goal));
    const double spread = spread_at(study, goal, from);
    double final = verdict->goals[goal];
    double variance = spread * way_left(ladder, from, end);
    for (double place = from; place < end;) {
        const double next = fmin(place * ladder->factor, end);
        const struct gain gain = gain_between(study, goal, place, next);
        const double distance =
            doubt * (gain.start - verdict->goals[goal]) * (place == from);
        final += gain.mean;
        variance +=
            (gain.n < FEWEST ? spread : gain.spread) + distance * distance;
        place = next;
    }
    prediction->final[goal] = final;
    prediction->variance[goal] = fmax(variance, least_variance * spread);
    prediction->known = prediction->known && spread > 0;
}

static void predict(const struct stop_study *study,
                    const struct asha_ladder *ladder,
                    struct stop_verdict *verdict)
{
    struct stop_prediction *prediction = &verdict->prediction;
    prediction->known = true;
    prediction->at = fmax(verdict->at, farthest(study, verdict->goal));
    for (size_t k = 0; k < study->setting->n_goals; k++) {
        prediction->final[k] = prediction->variance[k] = NAN;
        if (isfinite(verdict->goals[k]))
            predict_goal(study, ladder, k, verdict);
    }
    prediction->probability = final_model_probability(study, prediction);
}

/* --- the verdict --- */

static size_t first_objective(const struct setting *setting)
{
    size_t k = 0;
    while (k + 1 < setting->n_goals && setting->goals[k].safety)
        k++;
    return k;
}

/* Notes where the trial is judged, and what it was worth there. */
static void note_rung(const struct stop_study *study, size_t current,
                      const struct asha_ladder *ladder, const struct rung *rung,
                      struct stop_verdict *verdict)
{
    verdict->rung = study->curves[current].passed;
    verdict->at = asha_place(ladder, verdict->rung);
    verdict->compared = rung->n;
    verdict->goal = first_objective(study->setting);
    for (size_t k = 0; k < study->setting->n_goals; k++) {
        const struct learning_curve curve = {&study->curves[current], k};
        verdict->goals[k] = NAN;
        learning_curve_value(&curve, verdict->at, &verdict->goals[k]);
    }
    verdict->value = verdict->goals[verdict->goal];
}

/* Whether the trial passes a rung without being compared: what it has reported
 * up to there says too little. Rungs stay where they are, so that trials keep
 * the rungs that they have passed. */
static bool is_too_early(const struct stop_study *study, size_t current,
                         const struct asha_ladder *ladder, double place)
{
    const size_t goal = first_objective(study->setting);
    const struct learning_curve curve = {&study->curves[current], goal};
    if (stop_wait_is_set(study->options))
        return false;
    return learning_curve_count(&curve, place) < STOP_REPORTS ||
           (!isfinite(ladder->top) &&
            place < STOP_SHARE * farthest(study, goal));
}

static void judge_by(const struct stop_study *study, size_t current,
                     ladder_function *choose, struct stop_verdict *verdict)
{
    const struct climb climb = {study, choose};
    const struct stop_curve *curve = &study->curves[current];
    const struct asha_ladder ladder = choose(study->options, curve->ordinal);
    const bool pauses = study->options->pauses;
    double goals[SETTING_METRICS];
    if (asha_place(&ladder, curve->passed) >= ladder.top ||
        !values_at(study, current, asha_place(&ladder, curve->passed), goals))
        return;
    struct rung rung = rung_read(&climb, &ladder, curve->passed);
    const size_t room =
        pauses ? rung_places(&rung, &ladder) : rung_safe_places(&rung, &ladder);
    note_rung(study, current, &ladder, &rung, verdict);
    if (!is_too_early(study, current, &ladder, verdict->at) &&
        rung_rank(&rung, current, room) == room) {
        verdict->action = pauses ? STOP_PAUSE : STOP_NOW;
        verdict->threshold = rung_threshold(&rung, room);
        predict(study, &ladder, verdict);
    }
    rung_free(&rung);
}

/* --- promotion --- */

struct candidate {
    bool found;
    size_t curve;
    int64_t rung;
    size_t rank;
};

/* Takes the best of the paused ones of a rung, and marks all of them as looked
 * at. Higher rungs go first: what their trials need to end is least. */
static void consider(const struct climb *climb, size_t first, bool last,
                     bool looked[], struct candidate *best)
{
    const struct stop_study *study = climb->study;
    const struct stop_curve *curves = study->curves;
    const struct asha_ladder ladder =
        climb->choose(study->options, curves[first].ordinal);
    const int64_t number = curves[first].passed;
    struct rung rung = rung_read(climb, &ladder, number);
    const size_t room =
        last ? rung_last_places(&rung, &ladder) : rung_places(&rung, &ladder);
    for (size_t i = first; i < study->n; i++) {
        if (!curves[i].paused || curves[i].passed != number ||
            climb->choose(study->options, curves[i].ordinal).first !=
                ladder.first)
            continue;
        looked[i] = true;
        const size_t most =
            best->found && best->rung == number ? best->rank : room;
        const size_t rank = rung_rank(&rung, i, most < room ? most : room);
        if (rank < most && rank < room)
            *best = (struct candidate){true, i, number, rank};
    }
    rung_free(&rung);
}

static bool promote_by(const struct stop_study *study, ladder_function *choose,
                       bool last, size_t *chosen)
{
    const struct climb climb = {study, choose};
    struct candidate best = {0};
    bool *looked = ht_xcalloc(study->n + 1, sizeof *looked);
    for (size_t i = 0; i < study->n; i++)
        if (study->curves[i].paused && !looked[i] &&
            (!best.found || study->curves[i].passed >= best.rung))
            consider(&climb, i, last, looked, &best);
    free(looked);
    if (best.found)
        *chosen = best.curve;
    return best.found;
}

/* --- one ladder for all --- */

static struct asha_ladder choose_only(const struct early_stop *options,
                                      uint64_t ordinal)
{
    (void)ordinal;
    return asha_ladder(options);
}

static void judge(const struct stop_study *study, size_t current,
                  struct stop_verdict *verdict)
{
    judge_by(study, current, choose_only, verdict);
}

static bool promote(const struct stop_study *study, bool last, size_t *chosen)
{
    return promote_by(study, choose_only, last, chosen);
}

const struct stop_rule asha_rule = {
    .name = "asha", .judge = judge, .promote = promote};

/* --- Hyperband: a ladder for each bracket --- */

/* One rung more in a ladder says hardly more; its trials would be too few to
 * be compared with. */
enum { MOST_BRACKETS = 5 };

size_t asha_brackets(const struct early_stop *options)
{
    const struct asha_ladder whole = asha_ladder(options);
    const int64_t rungs = asha_reached(&whole, whole.top) + 1;
    return rungs < MOST_BRACKETS ? (size_t)rungs + 1 : MOST_BRACKETS;
}

/* The n-th fraction of a sequence whose every run covers 0 to 1 evenly:
 * multiples of the golden ratio. */
static double fraction(uint64_t n)
{
    return (double)((n * UINT64_C(0x9E3779B97F4A7C15)) >> 11) * 0x1p-53;
}

size_t asha_bracket(const struct early_stop *options, uint64_t ordinal)
{
    const size_t n = asha_brackets(options);
    const double factor = asha_ladder(options).factor;
    double share[MOST_BRACKETS], sum = 0;
    for (size_t b = 0; b < n; b++) {
        share[b] = pow(factor, (double)(n - 1 - b)) / (double)(n - b);
        sum += share[b];
    }
    double left = fraction(ordinal) * sum;
    size_t b = 0;
    while (b + 1 < n && left >= share[b])
        left -= share[b++];
    return b;
}

static struct asha_ladder choose_bracket(const struct early_stop *options,
                                         uint64_t ordinal)
{
    struct asha_ladder ladder = asha_ladder(options);
    ladder.first = asha_place(&ladder, (int64_t)asha_bracket(options, ordinal));
    return ladder;
}

static void judge_bracket(const struct stop_study *study, size_t current,
                          struct stop_verdict *verdict)
{
    judge_by(study, current, choose_bracket, verdict);
}

static bool promote_bracket(const struct stop_study *study, bool last,
                            size_t *chosen)
{
    return promote_by(study, choose_bracket, last, chosen);
}

const struct stop_rule hyperband_rule = {
    .name = "hyperband", .judge = judge_bracket, .promote = promote_bracket};
