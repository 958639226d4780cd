#include "tests/check.h"

#include <stdio.h>

int check_cases, check_failed_cases, check_faults;
const char *check_skipped;

int check_done(void)
{
    printf("1..%d\n", check_cases);
    return check_failed_cases > 0;
}
