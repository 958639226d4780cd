/* What a question to an open space asks for, and which trials it is about. */
#include "proto/form/form.h"
#include "tests/check.h"
#include "tuner/search/asked_space.h"
#include "tuner/search/points.h"

static const char STUDY[] =
    "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":[{\"metricId\":\"m\","
    "\"goal\":\"MAXIMIZE\"}],\"parameters\":[]},\"hypertune\":{\"openSpace\":"
    "true}}";
static const char ASKED[] =
    "{\"studySpec\":{\"algorithm\":\"RANDOM_SEARCH\",\"parameters\":[{"
    "\"parameterId\":\"n\",\"integerValueSpec\":{\"minValue\":\"1\","
    "\"maxValue\":\"9\"}},{\"parameterId\":\"x\",\"doubleValueSpec\":{"
    "\"minValue\":0,\"maxValue\":1}}]},\"hypertune\":{\"seed\":\"7\","
    "\"parameters\":{\"n\":{\"step\":\"2\"}}}}";

static struct job *asked(struct arena *arena)
{
    struct job *study = NULL, *job = NULL;
    CHECK(vertex_parse(arena, STUDY, &study, NULL) == HT_OK);
    CHECK(asked_space_parse(arena, study, ASKED, &job, NULL) == HT_OK);
    return job;
}

static void it_has_its_own_space_and_the_metrics_of_the_study(void)
{
    struct arena *arena = arena_new();
    const struct job *job = asked(arena);
    CHECK(job->n_metrics == 1 && job->metrics[0].maximize);
    CHECK(!job->space.open && job->space.n == 2);
    CHECK(job->space.params[0].int_step == 2);
    CHECK(job->algorithm == ALGORITHM_RANDOM && job->seed == 7);
    arena_free(arena);
}

static void a_trial_lacks_has_more_or_has_just_what_is_asked_for(void)
{
    struct arena *arena = arena_new();
    const struct space *space = &asked(arena)->space;
    struct value point[2];
    static const struct {
        const char *params;
        enum asked_fit fit;
    } cases[] = {{"{\"x\":0.5,\"n\":3}", ASKED_EQUAL},
                 {"{\"x\":0.5,\"n\":3,\"k\":\"a\"}", ASKED_WITHIN},
                 {"{\"x\":0.5}", ASKED_OUTSIDE},
                 {"{\"x\":1.5,\"n\":3}", ASKED_OUTSIDE},
                 {"{\"x\":0.5,\"n\":4}", ASKED_OUTSIDE},
                 {"{}", ASKED_OUTSIDE},
                 {"", ASKED_OUTSIDE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(asked_space_point(space, cases[i].params, point) == cases[i].fit);
    CHECK_TEXT(
        asked_space_params(arena, space, "{\"x\":0.5,\"k\":\"a\",\"n\":3}"),
        "{\"n\":3,\"x\":0.5}");
    CHECK(asked_space_params(arena, space, "{\"n\":3}") == NULL);
    arena_free(arena);
}

static void a_context_has_the_question_as_it_was_asked(void)
{
    struct arena *arena = arena_new();
    const char *context = arena_printf(
        arena, "{\"trial\":\"3\",\"parameters\":{\"n\":3},\"search\":%s}",
        ASKED);
    CHECK_TEXT(asked_space_of(arena, context), ASKED);
    CHECK(asked_space_of(arena, "{\"parameters\":{\"n\":3}}") == NULL);
    CHECK(asked_space_of(arena, NULL) == NULL);
    arena_free(arena);
}

static void an_open_trial_takes_its_point_only_where_that_is_said(void)
{
    struct arena *arena = arena_new();
    const struct space *space = &asked(arena)->space;
    const struct value mine[] = {{.whole = 3}, {.real = 0.5}},
                       other[] = {{.whole = 3}, {.real = 0.25}};
    struct points_pending pending = {0};
    points_pending_add(&pending, 1, false, mine, 2);
    CHECK(!points_pending_has(&pending, space, mine));
    points_pending_add(&pending, 2, true, mine, 2);
    CHECK(points_pending_has(&pending, space, mine));
    CHECK(!points_pending_has(&pending, space, other));
    points_pending_drop(&pending, 2);
    CHECK(!points_pending_has(&pending, space, mine));
    points_pending_clear(&pending);
    arena_free(arena);
}

int main(void)
{
    RUN(it_has_its_own_space_and_the_metrics_of_the_study);
    RUN(a_trial_lacks_has_more_or_has_just_what_is_asked_for);
    RUN(a_context_has_the_question_as_it_was_asked);
    RUN(an_open_trial_takes_its_point_only_where_that_is_said);
    return check_done();
}
