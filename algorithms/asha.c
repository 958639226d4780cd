#include "algorithms/asha.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/learning_curve.h"
#include "algorithms/pareto.h"
#include "proto/arena.h"

/* One trial goes on of three: with more, a good trial whose start is slow is
 * lost more often; with fewer, little is saved. */
enum { USUAL_FACTOR = 3 };

/* --- ladders --- */

struct ladder asha_ladder(const struct early_stop *options)
{
    return (struct ladder){
        .first = options->min_steps > 0 ? (double)options->min_steps : 1,
        .factor = options->factor > 0 ? (double)options->factor : USUAL_FACTOR,
        .top = options->max_steps > 0 ? (double)options->max_steps : INFINITY};
}

double ladder_place(const struct ladder *ladder, int64_t rung)
{
    double place = ladder->first;
    for (int64_t i = 0; i < rung; i++)
        place *= ladder->factor;
    return place;
}

int64_t ladder_reached(const struct ladder *ladder, double at)
{
    int64_t rung = -1;
    double place = ladder->first;
    for (; place <= at && place < ladder->top; place *= ladder->factor)
        rung++;
    return rung;
}

/* --- who came to a rung --- */

/* The trials that came to one rung of one ladder. */
struct rung {
    size_t m;       /* objectives */
    size_t n;       /* trials */
    size_t *curves; /* owned */
    double *values; /* owned, a row of m for each */
};

struct climb { /* what is asked for */
    const struct stop_study *study;
    ladder_function *choose;
};

static size_t count_objectives(const struct setting *setting)
{
    size_t m = 0;
    for (size_t k = 0; k < setting->n_goals; k++)
        m += !setting->goals[k].safety;
    return m;
}

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

static struct rung rung_read(const struct climb *climb,
                             const struct ladder *ladder, int64_t number)
{
    const struct stop_study *study = climb->study;
    const double place = ladder_place(ladder, number);
    struct rung rung = {.m = count_objectives(study->setting)};
    rung.curves = ht_xcalloc(study->n + 1, sizeof *rung.curves);
    rung.values =
        ht_xcalloc((study->n + 1) * (rung.m + 1), sizeof *rung.values);
    for (size_t i = 0; i < study->n; i++) {
        const struct ladder own =
            climb->choose(study->options, study->curves[i].ordinal);
        if (own.first == ladder->first &&
            values_at(study, i, place, &rung.values[rung.n * rung.m]))
            rung.curves[rung.n++] = i;
    }
    return rung;
}

static void rung_free(struct rung *rung)
{
    free(rung->curves);
    free(rung->values);
}

/* How many there are ahead of the trial, counted up to `most`; `most` for one
 * that is not there. */
static size_t rung_rank(const struct rung *rung, size_t curve, size_t most)
{
    size_t at = 0, ahead = 0;
    while (at < rung->n && rung->curves[at] != curve)
        at++;
    if (at == rung->n)
        return most;
    for (size_t i = 0; i < rung->n && ahead < most; i++)
        ahead += pareto_dominates(rung->m, &rung->values[i * rung->m],
                                  &rung->values[at * rung->m]);
    return ahead;
}

/* How many go on. What stops for good is given the benefit of the doubt:
 * nobody stops before `factor` trials came, and a part of a place is one. */
static size_t rung_room(const struct rung *rung, const struct ladder *ladder,
                        bool pauses)
{
    const size_t factor = (size_t)ladder->factor;
    if (pauses)
        return rung->n / factor;
    return rung->n < factor ? rung->n : (rung->n + factor - 1) / factor;
}

static int descending(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left < *right) - (*left > *right);
}

/* The worst value that has room, where one objective ranks the trials. Sorts
 * the values. */
static double rung_threshold(struct rung *rung, size_t room)
{
    if (rung->m != 1 || room == 0)
        return NAN;
    qsort(rung->values, rung->n, sizeof *rung->values, descending);
    return rung->values[room - 1];
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
                      const struct ladder *ladder, const struct rung *rung,
                      struct stop_verdict *verdict)
{
    verdict->rung = study->curves[current].passed;
    verdict->at = ladder_place(ladder, verdict->rung);
    verdict->compared = rung->n;
    verdict->goal = first_objective(study->setting);
    for (size_t k = 0; k < study->setting->n_goals; k++) {
        const struct learning_curve curve = {&study->curves[current], k};
        verdict->goals[k] = NAN;
        learning_curve_value(&curve, verdict->at, &verdict->goals[k]);
    }
    verdict->value = verdict->goals[verdict->goal];
}

void ladder_judge(const struct stop_study *study, size_t current,
                  ladder_function *choose, struct stop_verdict *verdict)
{
    const struct climb climb = {study, choose};
    const struct stop_curve *curve = &study->curves[current];
    const struct ladder ladder = choose(study->options, curve->ordinal);
    const bool pauses = study->options->pauses;
    double goals[SETTING_METRICS];
    if (ladder_place(&ladder, curve->passed) >= ladder.top ||
        !values_at(study, current, ladder_place(&ladder, curve->passed), goals))
        return;
    struct rung rung = rung_read(&climb, &ladder, curve->passed);
    const size_t room = rung_room(&rung, &ladder, pauses);
    note_rung(study, current, &ladder, &rung, verdict);
    if (rung_rank(&rung, current, room) == room) {
        verdict->action = pauses ? STOP_PAUSE : STOP_NOW;
        verdict->threshold = rung_threshold(&rung, room);
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
    const struct ladder ladder =
        climb->choose(study->options, curves[first].ordinal);
    const int64_t number = curves[first].passed;
    struct rung rung = rung_read(climb, &ladder, number);
    size_t room = rung_room(&rung, &ladder, true);
    if (last && room == 0)
        room = 1;
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

bool ladder_promote(const struct stop_study *study, ladder_function *choose,
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

/* --- the rule --- */

static struct ladder choose_only(const struct early_stop *options,
                                 uint64_t ordinal)
{
    (void)ordinal;
    return asha_ladder(options);
}

static void judge(const struct stop_study *study, size_t current,
                  struct stop_verdict *verdict)
{
    ladder_judge(study, current, choose_only, verdict);
}

static bool promote(const struct stop_study *study, bool last, size_t *chosen)
{
    return ladder_promote(study, choose_only, last, chosen);
}

const struct stop_rule asha_rule = {
    .name = "asha", .judge = judge, .promote = promote};
