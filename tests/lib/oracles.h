/* oracles.h - reference numbers of the search, computed independently with
 * SciPy and mpmath (tests/data/search_oracles.json). */
#ifndef HT_TESTS_LIB_ORACLES_H
#define HT_TESTS_LIB_ORACLES_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

/* The member of that name; the caller owns the whole by cJSON_Delete() of
 * *all. Ends the test program when the file is missing. */
const cJSON *oracle(const char *name, cJSON **all);
double oracle_number(const cJSON *object, const char *key);
/* Reads at most `cap` numbers; returns how many. */
size_t oracle_numbers(const cJSON *object, const char *key, size_t cap,
                      double out[]);

/* |got - want| <= tolerance * max(1, |want|); says so when not. */
bool oracle_near(double got, double want, double tolerance);

#endif
