/* train.c - a round trip through 60 towns by simulated annealing; reports its
 * length while it gets shorter.
 *
 *     train --start=HEAT --cooling=FACTOR --reverse=SHARE
 *
 * HEAT and FACTOR drive the annealing, SHARE of the moves turn a part of the
 * trip around, the others swap two towns. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hypertune.h>

enum { TOWNS = 60, ROUNDS = 100, MOVES = 400, REPORTS = 10 };

struct town {
    double x, y;
};

struct settings {
    double start, cooling, reverse;
};

static uint64_t state = 1;

/* A number in [0, 1); the same ones in every trial (Marsaglia's xorshift). */
static double chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static double distance(const struct town *a, const struct town *b)
{
    return hypot(a->x - b->x, a->y - b->y);
}

static double length(const struct town trip[])
{
    double sum = distance(&trip[TOWNS - 1], &trip[0]);
    for (int i = 1; i < TOWNS; i++)
        sum += distance(&trip[i - 1], &trip[i]);
    return sum;
}

static void swap(struct town trip[], int i, int j)
{
    struct town town = trip[i];
    trip[i] = trip[j];
    trip[j] = town;
}

static void turn_around(struct town trip[], int i, int j)
{
    for (; i < j; i++, j--)
        swap(trip, i, j);
}

/* Tries one move and takes it back when the heat does not allow it. */
static double move(struct town trip[], double now, double heat, double reverse)
{
    int i = (int)(chance() * TOWNS), j = (int)(chance() * TOWNS);
    void (*change)(struct town[], int, int) =
        chance() < reverse ? turn_around : swap;
    if (i > j) {
        int other = i;
        i = j;
        j = other;
    }
    change(trip, i, j);
    double then = length(trip);
    if (then <= now || chance() < exp((now - then) / heat))
        return then;
    change(trip, i, j);
    return now;
}

static void read_flags(int argc, char *argv[], struct settings *set)
{
    const struct {
        const char *name;
        double *value;
    } flags[] = {{"--start=", &set->start},
                 {"--cooling=", &set->cooling},
                 {"--reverse=", &set->reverse}};
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
            if (strncmp(argv[i], flags[k].name, strlen(flags[k].name)) == 0)
                *flags[k].value = strtod(argv[i] + strlen(flags[k].name), NULL);
}

int main(int argc, char *argv[])
{
    struct settings set = {.start = 1, .cooling = 0.95, .reverse = 0.5};
    struct town trip[TOWNS];
    read_flags(argc, argv, &set);
    for (int i = 0; i < TOWNS; i++)
        trip[i] = (struct town){chance(), chance()};
    double now = length(trip), heat = set.start;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int n = 0; n < MOVES; n++)
            now = move(trip, now, heat, set.reverse);
        heat *= set.cooling;
        if (round % (ROUNDS / REPORTS) == 0)
            report_hyperparameter_tuning_metric("length", now, round, NULL);
    }
    printf("length %.4f\n", now);
    return 0;
}
