#include "tuner/runners/last_seen.h"

#include "tests/check.h"

static void a_runner_that_never_spoke_was_not_heard(void)
{
    struct last_seen *sightings = last_seen_new();
    CHECK(last_seen_ms(sightings, "a") == 0);
    last_seen_free(sightings);
    last_seen_free(NULL);
}

static void each_runner_has_its_newest_time(void)
{
    struct last_seen *sightings = last_seen_new();
    last_seen_note(sightings, "a", 5);
    last_seen_note(sightings, "b", 7);
    last_seen_note(sightings, "a", 9);
    CHECK(last_seen_ms(sightings, "a") == 9);
    CHECK(last_seen_ms(sightings, "b") == 7);
    CHECK(last_seen_ms(sightings, "ab") == 0);
    last_seen_free(sightings);
}

static void elements_are_those_of_the_last_poll(void)
{
    struct last_seen *sightings = last_seen_new();
    struct arena *arena = arena_new();
    char json[] = "[{\"study\":1}]";
    CHECK(last_seen_elements(sightings, arena, "a") == NULL);
    last_seen_note(sightings, "a", 5);
    CHECK(last_seen_elements(sightings, arena, "a") == NULL);
    last_seen_note_elements(sightings, "a", json);
    last_seen_note_elements(sightings, "b", "[]");
    json[0] = 'x'; /* it was copied */
    const char *before = last_seen_elements(sightings, arena, "a");
    CHECK_TEXT(before, "[{\"study\":1}]");
    last_seen_note_elements(sightings, "a", "[]");
    CHECK_TEXT(before, "[{\"study\":1}]");
    CHECK_TEXT(last_seen_elements(sightings, arena, "a"), "[]");
    CHECK(last_seen_ms(sightings, "a") == 5 &&
          last_seen_ms(sightings, "b") == 0);
    arena_free(arena);
    last_seen_free(sightings);
}

int main(void)
{
    RUN(a_runner_that_never_spoke_was_not_heard);
    RUN(each_runner_has_its_newest_time);
    RUN(elements_are_those_of_the_last_poll);
    return check_done();
}
