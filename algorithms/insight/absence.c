#include "algorithms/insight/absence.h"

#include <stdlib.h>

#include "algorithms/base/order.h"
#include "proto/base/arena.h"

enum {
    MOST_ROWS = 500, /* the newest of more results */
    MOST_DEPTH = 6
};

struct cut {
    bool leaf, present; /* a leaf: what most that came here do */
    size_t at;          /* the coordinate that is cut */
    double below;       /* numbers below it go to `yes`, categories equal */
    size_t yes, no;
};

struct absence {
    const struct encoding *encoding;
    size_t order[HT_MAX_PARAMETERS]; /* coordinates, the most present first */
    size_t root[HT_MAX_PARAMETERS];  /* of their trees */
    size_t n, cap;
    struct cut *cuts; /* owned, of all trees */
};

struct growth {
    struct absence *absence;
    const double *x; /* rows of coordinates */
    size_t place;    /* in `order`: of the coordinate that is predicted */
};

static double coordinate(const struct growth *growth, size_t row, size_t c)
{
    return growth->x[row * growth->absence->encoding->dim + c];
}

static bool is_present(const struct growth *growth, size_t row)
{
    const size_t c = growth->absence->order[growth->place];
    return coordinate(growth, row, c) != COORDINATE_ABSENT;
}

static bool goes_yes(const struct absence *absence, size_t at, double below,
                     double u)
{
    return absence->encoding->at[at].kind == COORDINATE_CATEGORY ? u == below
                                                                 : u < below;
}

static size_t count_present(const struct growth *growth, size_t n,
                            const size_t rows[])
{
    size_t present = 0;
    for (size_t i = 0; i < n; i++)
        present += is_present(growth, rows[i]);
    return present;
}

static size_t add_cut(struct absence *absence, struct cut cut)
{
    if (absence->n == absence->cap) {
        absence->cap = absence->cap == 0 ? 64 : 2 * absence->cap;
        absence->cuts =
            ht_xrealloc(absence->cuts, absence->cap, sizeof *absence->cuts);
    }
    absence->cuts[absence->n] = cut;
    return absence->n++;
}

/* How much clearer presence is on the two sides than in the whole. */
static double clarity(double yes, double n_yes, double no, double n_no)
{
    const double gap = yes / n_yes - no / n_no;
    return n_yes * n_no / (n_yes + n_no) * gap * gap;
}

/* Offers every cut of coordinate `at`: of sorted numbers those between two,
 * of categories each against the rest. */
static void offer_cuts(const struct growth *growth, size_t at, size_t n,
                       const size_t rows[], double *best, struct cut *cut)
{
    const bool category =
        growth->absence->encoding->at[at].kind == COORDINATE_CATEGORY;
    const double all = (double)count_present(growth, n, rows);
    struct ranked *sorted = ht_xcalloc(n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct ranked){coordinate(growth, rows[i], at), rows[i]};
    order_ranked(n, sorted); /* the largest first */
    double seen = 0, n_seen = 0;
    for (size_t i = 0; i + 1 <= n; i++) {
        seen += is_present(growth, sorted[i].at);
        n_seen++;
        const bool last = i + 1 == n;
        if (!last && sorted[i].value == sorted[i + 1].value)
            continue;
        const double rest = (double)n - n_seen;
        const double clear =
            rest > 0 ? clarity(seen, n_seen, all - seen, rest) : 0;
        if (clear > *best * (1 + 1e-9)) {
            *best = clear;
            cut->at = at;
            cut->below = category ? sorted[i].value
                                  : (sorted[i].value + sorted[i + 1].value) / 2;
        }
        if (category)
            seen = n_seen = 0;
        if (last)
            break;
    }
    free(sorted);
}

/* Only what is there more often can decide; of equally clear ones the most
 * present does. */
static bool choose_cut(const struct growth *growth, size_t n,
                       const size_t rows[], struct cut *cut)
{
    double best = 1e-9;
    const double least = best;
    for (size_t k = 0; k < growth->place; k++)
        offer_cuts(growth, growth->absence->order[k], n, rows, &best, cut);
    return best > least;
}

static size_t grow(struct growth *growth, size_t depth, size_t n,
                   const size_t rows[])
{
    const size_t present = count_present(growth, n, rows);
    struct cut cut = {.leaf = true, .present = 2 * present >= n};
    if (present == 0 || present == n || depth == MOST_DEPTH ||
        !choose_cut(growth, n, rows, &cut))
        return add_cut(growth->absence, cut);
    size_t *sides = ht_xcalloc(n, sizeof *sides), n_yes = 0, n_no = 0;
    for (size_t i = 0; i < n; i++) {
        const double u = coordinate(growth, rows[i], cut.at);
        if (goes_yes(growth->absence, cut.at, cut.below, u))
            sides[n_yes++] = rows[i];
        else
            sides[n - ++n_no] = rows[i];
    }
    cut.leaf = false;
    cut.yes = grow(growth, depth + 1, n_yes, sides);
    cut.no = grow(growth, depth + 1, n_no, sides + n_yes);
    free(sides);
    return add_cut(growth->absence, cut);
}

static void order_coordinates(struct absence *absence, size_t n,
                              const double x[])
{
    const size_t dim = absence->encoding->dim;
    struct ranked ranked[HT_MAX_PARAMETERS] = {0};
    for (size_t c = 0; c < dim; c++) {
        ranked[c].at = c;
        for (size_t i = 0; i < n; i++)
            ranked[c].value += x[i * dim + c] != COORDINATE_ABSENT;
    }
    order_ranked(dim, ranked);
    for (size_t c = 0; c < dim; c++)
        absence->order[c] = ranked[c].at;
}

struct absence *absence_learn(const struct history *history)
{
    struct absence *absence = ht_xcalloc(1, sizeof *absence);
    const size_t dim = history->encoding->dim;
    const size_t n = history->n < MOST_ROWS ? history->n : MOST_ROWS;
    struct growth growth = {.absence = absence,
                            .x = history->x + (history->n - n) * dim};
    size_t *rows = ht_xcalloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = i;
    absence->encoding = history->encoding;
    order_coordinates(absence, n, growth.x);
    for (growth.place = 0; growth.place < dim; growth.place++)
        absence->root[growth.place] = grow(&growth, 0, n, rows);
    free(rows);
    return absence;
}

void absence_free(struct absence *absence)
{
    if (absence != NULL)
        free(absence->cuts);
    free(absence);
}

void absence_settle(const struct absence *absence, double x[])
{
    for (size_t k = 0; k < absence->encoding->dim; k++) {
        const struct cut *cut = &absence->cuts[absence->root[k]];
        while (!cut->leaf)
            cut = &absence
                       ->cuts[goes_yes(absence, cut->at, cut->below, x[cut->at])
                                  ? cut->yes
                                  : cut->no];
        if (!cut->present)
            x[absence->order[k]] = COORDINATE_ABSENT;
    }
}

static bool asks(const struct absence *absence, size_t node, size_t parent)
{
    const struct cut *cut = &absence->cuts[node];
    return !cut->leaf &&
           (cut->at == parent || asks(absence, cut->yes, parent) ||
            asks(absence, cut->no, parent));
}

bool absence_follows(const struct absence *absence, size_t c, size_t parent)
{
    size_t k = 0;
    while (absence->order[k] != c)
        k++;
    return asks(absence, absence->root[k], parent);
}
