#include "tuner/runners/last_seen.h"

#include "tests/check.h"

static void a_runner_that_never_spoke_was_not_heard(void)
{
    struct sightings *sightings = sightings_new();
    CHECK(sightings_last(sightings, "a") == 0);
    sightings_free(sightings);
    sightings_free(NULL);
}

static void each_runner_has_its_newest_time(void)
{
    struct sightings *sightings = sightings_new();
    sightings_note(sightings, "a", 5);
    sightings_note(sightings, "b", 7);
    sightings_note(sightings, "a", 9);
    CHECK(sightings_last(sightings, "a") == 9);
    CHECK(sightings_last(sightings, "b") == 7);
    CHECK(sightings_last(sightings, "ab") == 0);
    sightings_free(sightings);
}

int main(void)
{
    RUN(a_runner_that_never_spoke_was_not_heard);
    RUN(each_runner_has_its_newest_time);
    return check_done();
}
