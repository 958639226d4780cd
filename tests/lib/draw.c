#include "tests/lib/draw.h"

double draw_unit(struct draw *draw)
{
    draw->place.draw++;
    return rng_unit(&draw->place, 0);
}

size_t draw_below(struct draw *draw, size_t n)
{
    return (size_t)(draw_unit(draw) * (double)n);
}

bool draw_chance(struct draw *draw, double p)
{
    return draw_unit(draw) < p;
}
