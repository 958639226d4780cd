/* What early stopping saves and what it costs, on recorded learning curves.
 *
 *     bench_stop [FILE [RULE [ORDERS [HALF]]]]
 *
 * A study draws TRIALS of the curves in random order and trains SLOTS of them
 * at a time, an epoch after the other; its rule judges after every epoch. Over
 * ORDERS studies, for each rule: the share of epochs and of processor time
 * that was not trained, the share of trials stopped, the share of studies that
 * lost their best result, and how much was lost; then how right the foretold
 * results of stopped trials were: their error, and that in units of what was
 * foretold. HALF is "tune" (every other curve, on which guards were chosen) or
 * "test" (the rest). */
#include <time.h>

#include "bench/curves.h"

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"

enum { TRIALS = 60, SLOTS = 4, ORDERS = 50 };

static const struct {
    const char *name;
    struct early_stop options;
} cases[] = {
    {"median", {.rule = EARLY_MEDIAN}},
    {"decay", {.rule = EARLY_DECAY}},
    {"convex", {.rule = EARLY_CONVEX}},
    {"asha", {.rule = EARLY_ASHA, .max_steps = CURVE_EPOCHS}},
    {"asha_from_1",
     {.rule = EARLY_ASHA, .min_steps = 1, .max_steps = CURVE_EPOCHS}},
    {"asha_pause",
     {.rule = EARLY_ASHA, .max_steps = CURVE_EPOCHS, .pauses = true}},
    {"hyperband", {.rule = EARLY_HYPERBAND, .max_steps = CURVE_EPOCHS}},
    {"hyperband_pause",
     {.rule = EARLY_HYPERBAND, .max_steps = CURVE_EPOCHS, .pauses = true}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- one study ---- */

struct study {
    const struct recorded *order[TRIALS];
    struct stop_curve curves[TRIALS]; /* those begun */
    size_t begun;
    size_t running[SLOTS]; /* trials; TRIALS: free */
    double clock[SLOTS];
    struct stop_study seen;
};

struct totals {
    double epochs, all_epochs, seconds, all_seconds;
    double stopped, lost, regret;
    double foretold, squares, units;
    double judged, judging;
};

static size_t count_running(const struct study *study)
{
    size_t n = 0;
    for (size_t s = 0; s < SLOTS; s++)
        n += study->running[s] < TRIALS;
    return n;
}

/* A paused trial that may continue takes the slot before a new one does. */
static bool promote(struct study *study, size_t slot)
{
    const struct early_stop *options = study->seen.options;
    const bool last = study->begun == TRIALS && count_running(study) == 0;
    size_t i;
    if (!options->pauses ||
        !stop_rule_find(options->rule)->promote(&study->seen, last, &i))
        return false;
    study->curves[i].paused = false;
    study->curves[i].passed++;
    study->running[slot] = i;
    return true;
}

static void start_next(struct study *study, size_t slot)
{
    const size_t i = study->begun;
    study->running[slot] = TRIALS;
    if (promote(study, slot) || i == TRIALS)
        return;
    study->curves[i] = (struct stop_curve){.ordinal = i,
                                           .point = study->order[i]->point,
                                           .end = STOP_END_OPEN,
                                           .points = study->order[i]->points};
    study->running[slot] = study->begun++;
    study->seen.n = study->begun;
}

/* What one slot brought may let others continue in slots that are free. */
static void fill_slots(struct study *study, double now)
{
    for (size_t s = 0; s < SLOTS; s++) {
        if (study->running[s] < TRIALS)
            continue;
        study->clock[s] = now;
        start_next(study, s);
    }
}

/* The slot whose next epoch ends first; SLOTS when all is done. */
static size_t next_slot(const struct study *study)
{
    size_t next = SLOTS;
    for (size_t s = 0; s < SLOTS; s++)
        if (study->running[s] < TRIALS &&
            (next == SLOTS || study->clock[s] < study->clock[next]))
            next = s;
    return next;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) +
           1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static bool stops(struct study *study, size_t trial, struct totals *totals)
{
    const struct recorded *whole = study->order[trial];
    struct stop_verdict verdict;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    early_stop_judge(&study->seen, trial, &verdict);
    totals->judging += seconds_since(&start);
    totals->judged++;
    if (verdict.rung >= 0)
        study->curves[trial].passed =
            verdict.rung + (verdict.action == STOP_GO_ON);
    if (verdict.action == STOP_GO_ON)
        return false;
    totals->stopped++;
    study->curves[trial].paused = verdict.action == STOP_PAUSE;
    if (verdict.prediction.known) {
        const double miss =
            verdict.prediction.final[0] - whole->values[whole->n - 1];
        totals->foretold++;
        totals->squares += miss * miss;
        totals->units += miss * miss / verdict.prediction.variance[0];
    }
    return true;
}

static void train_epoch(struct study *study, size_t slot, struct totals *totals)
{
    const size_t trial = study->running[slot];
    const struct recorded *whole = study->order[trial];
    struct stop_curve *curve = &study->curves[trial];
    curve->n++;
    study->clock[slot] += whole->seconds;
    totals->epochs++;
    totals->seconds += whole->seconds;
    if (curve->n == whole->n) {
        curve->end = STOP_END_WHOLE;
        curve->finals = &whole->values[whole->n - 1];
    } else if (stops(study, trial, totals)) {
        curve->end = curve->paused ? STOP_END_OPEN : STOP_END_EARLY;
    } else {
        return;
    }
    study->running[slot] = TRIALS;
    fill_slots(study, study->clock[slot]);
}

static void run_study(struct study *study, struct totals *totals)
{
    size_t slot;
    double best = -INFINITY, kept = -INFINITY;
    for (slot = 0; slot < SLOTS; slot++)
        start_next(study, slot);
    while ((slot = next_slot(study)) < SLOTS)
        train_epoch(study, slot, totals);
    for (size_t i = 0; i < TRIALS; i++) {
        const struct recorded *whole = study->order[i];
        const double final = whole->values[whole->n - 1];
        best = fmax(best, final);
        if (study->curves[i].end == STOP_END_WHOLE)
            kept = fmax(kept, final);
        totals->all_epochs += (double)whole->n;
        totals->all_seconds += whole->seconds * (double)whole->n;
    }
    totals->lost += kept < best;
    totals->regret += best - kept;
}

/* ---- many ---- */

/* The first TRIALS of a shuffle. */
static void draw(struct study *study, const struct records *records,
                 const char *half, uint64_t seed)
{
    const struct recorded **pool = ht_xcalloc(records->n, sizeof(void *));
    const struct rng_place place = {seed, 0, 0};
    size_t n = 0;
    for (size_t i = strcmp(half, "test") == 0; i < records->n; i += 2)
        pool[n++] = &records->items[i];
    if (n < TRIALS)
        curve_fail("too few");
    for (size_t i = 0; i < TRIALS; i++) {
        const size_t from = i + (size_t)(rng_unit(&place, i) * (double)(n - i));
        study->order[i] = pool[from];
        pool[from] = pool[i];
    }
    free(pool);
}

static void run_case(size_t which, const struct records *records,
                     const char *half, uint64_t orders)
{
    const struct setting setting = {.space = &curve_space, .n_goals = 1};
    struct totals sum = {0};
    for (uint64_t seed = 0; seed < orders; seed++) {
        struct study study = {
            .seen = {.setting = &setting, .options = &cases[which].options}};
        study.seen.curves = study.curves;
        draw(&study, records, half, seed);
        run_study(&study, &sum);
    }
    const double studies = (double)orders;
    printf("rule=%s half=%s studies=%.0f trials=%d saved_epochs=%.3f "
           "saved_seconds=%.3f stopped=%.3f best_lost=%.3f regret=%.5f "
           "foretold=%.0f error=%.4f error_in_units=%.2f judgement_us=%.0f\n",
           cases[which].name, half, studies, TRIALS,
           1 - sum.epochs / sum.all_epochs, 1 - sum.seconds / sum.all_seconds,
           sum.stopped / studies / TRIALS, sum.lost / studies,
           sum.regret / studies, sum.foretold, sqrt(sum.squares / sum.foretold),
           sqrt(sum.units / sum.foretold), 1e6 * sum.judging / sum.judged);
    fflush(stdout);
}

int main(int argc, char *argv[])
{
    const char *path = argc > 1 ? argv[1] : "bench/data/digits_curves.csv";
    const char *rule = argc > 2 ? argv[2] : "all";
    const uint64_t orders = argc > 3 ? strtoull(argv[3], NULL, 10) : ORDERS;
    const char *half = argc > 4 ? argv[4] : "test";
    const struct records records = curves_read(path);
    algorithm_init();
    for (size_t i = 0; i < CASES; i++)
        if (strcmp(rule, "all") == 0 || strcmp(rule, cases[i].name) == 0)
            run_case(i, &records, half, orders);
    free(records.items);
    return 0;
}
