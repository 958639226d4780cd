/* check.h - the test harness: CHECK, named cases, TAP on stdout.
 *
 *     static void adds_two_numbers(void) { CHECK(1 + 1 == 2); }
 *     int main(void) { RUN(adds_two_numbers); return check_done(); }
 *
 * A case's function name is a sentence. A failed CHECK says where and with
 * what, and the case continues; SKIP ends one that cannot run here and says
 * why. Where a package of Debian is missing, that X "is not installed". */
#ifndef HT_TESTS_CHECK_H
#define HT_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

/* Milliseconds for what must happen at some time, however slow the machine and
 * whatever the sanitizer; who waits for longer has found a fault. */
enum { PATIENCE_MS = 200000 };

/* Of the program so far; faults and the reason of a skip of this case. Tests
 * use the macros. */
extern int check_cases, check_failed_cases, check_faults;
extern const char *check_skipped;

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            check_faults++;                                                    \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);           \
        }                                                                      \
    } while (0)

#define CHECK_TEXT(got, want)                                                  \
    do {                                                                       \
        const char *got_ = (got), *want_ = (want);                             \
        if (got_ == NULL || strcmp(got_, want_) != 0) {                        \
            check_faults++;                                                    \
            printf("# %s:%d: got \"%s\"\n#   want \"%s\"\n", __FILE__,         \
                   __LINE__, got_ ? got_ : "(null)", want_);                   \
        }                                                                      \
    } while (0)

#define SKIP(why)                                                              \
    do {                                                                       \
        check_skipped = (why);                                                 \
        return;                                                                \
    } while (0)

#define RUN(test) RUN_CALL(test, test())

/* The case of that name as a call: for fixtures that cases are given. */
#define RUN_CALL(test, call)                                                   \
    do {                                                                       \
        check_faults = 0;                                                      \
        check_skipped = NULL;                                                  \
        call;                                                                  \
        check_cases++;                                                         \
        check_failed_cases += check_faults > 0;                                \
        printf("%s %d - %s%s%s\n", check_faults ? "not ok" : "ok",             \
               check_cases, #test, check_skipped != NULL ? " # SKIP " : "",    \
               check_skipped != NULL ? check_skipped : "");                    \
        fflush(stdout);                                                        \
    } while (0)

/* Prints the plan; returns the program's exit code. */
int check_done(void);

#endif
