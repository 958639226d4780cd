/* encoding.h - parameter values as coordinates in the unit cube, and back, by
 * their scale (linear, log, reverse log).
 *
 * Every parameter with more than one value is one coordinate: continuous and
 * ordered ones a position in [0, 1], aware of their scale; categories their
 * index. What an unmet condition leaves out is COORDINATE_ABSENT.
 *
 * Trials made before a change of the study may have values outside of today's
 * space. Numbers have their true place then, below 0 or above 1 but never at
 * COORDINATE_ABSENT, and former categories an index from `levels` on; a
 * parameter that is constant now still has a coordinate. What is decoded,
 * drawn or listed lies in today's space. */
#ifndef HT_ALGORITHMS_SPACE_ENCODING_H
#define HT_ALGORITHMS_SPACE_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/limits.h"
#include "proto/space/space.h"

#define COORDINATE_ABSENT (-1.0)

enum coordinate_kind {
    COORDINATE_CONTINUOUS, /* any position; gradients exist */
    COORDINATE_ORDINAL,    /* one of the positions of its levels */
    COORDINATE_CATEGORY    /* 0, 1, ... levels - 1, all equally far apart */
};

/* A parameter as the model sees it. */
struct coordinate {
    enum coordinate_kind kind;
    bool conditional;        /* may be absent */
    size_t param;            /* index in the space */
    size_t levels;           /* 0: continuous */
    const double *positions; /* ORDINAL: of its levels, increasing */
    double usual;            /* of the default, otherwise of the middle */
};

struct encoding {
    const struct space *space; /* borrowed */
    bool flat;                 /* nothing is ever absent */
    bool continuous;           /* some coordinate is */
    size_t dim;
    struct coordinate at[HT_MAX_PARAMETERS];
    double *positions;           /* owned, of all ordinal coordinates */
    const struct subspace *part; /* borrowed: of points; NULL: all the space */
};

/* The space has at most HT_MAX_PARAMETERS and must outlive the encoding. */
void encoding_init(struct encoding *encoding, const struct space *space);
/* Not for an encoding of encoding_within(). */
void encoding_fini(struct encoding *encoding);

/* The same encoding for points of a part of the space: what is decoded or
 * settled by it lies there. It borrows from `encoding`, is not ended, and rows
 * of either mean the same. */
struct encoding encoding_within(const struct encoding *encoding,
                                const struct subspace *part);

/* Writes the `dim` coordinates of a settled point, which may have former
 * values. */
void encoding_encode(const struct encoding *encoding,
                     const struct value point[], double x[]);
/* Writes the settled point that is nearest; a constant keeps its value. */
void encoding_decode(const struct encoding *encoding, const double x[],
                     struct value point[]);

/* Coordinate c of a uniform draw u in [0, 1): every level is as likely as
 * random search makes it. */
double encoding_draw(const struct encoding *encoding, size_t c, double u);
/* Coordinate c at its j-th level, j < levels. */
double encoding_level(const struct encoding *encoding, size_t c, size_t j);
/* The level of a present coordinate c, the nearest of an ordinal one, the usual
 * one of a former category. */
size_t encoding_level_of(const struct encoding *encoding, size_t c, double u);

/* Makes absent what has no place beside the other coordinates, and gives the
 * value in `fill` to what has a place and is absent. */
void encoding_settle(const struct encoding *encoding, const double fill[],
                     double x[]);
/* Moves a settled row of the whole space into the part, what becomes present
 * to its usual place. */
void encoding_enter(const struct encoding *encoding, double x[]);

/* Moves a row outside of today's space to the nearest one in it, in the part.
 */
void encoding_return(const struct encoding *encoding, double x[]);

/* Lists the coordinates that may differ between points of the part; returns
 * how many. */
size_t encoding_list_free(const struct encoding *encoding, size_t list[]);
/* Whether coordinate c is one of them. */
bool encoding_is_free(const struct encoding *encoding, size_t c);

#endif
