#include <string.h>

#include "proto/form/form.h"
#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"
#include "tuner/db/ranking.h"
#include "tuner/search/pareto_trials.h"

/* A database with one study: loss down, speed up, memory at most 4. */
struct place {
    struct db_place file;
    struct db *db;
    struct arena *arena;
    struct job *job;
};

#define SPEC(metrics)                                                          \
    "{\"displayName\":\"s\",\"studySpec\":{\"metrics\":[" metrics              \
    "],\"parameters\":[{\"parameterId\":\"x\","                                \
    "\"doubleValueSpec\":{\"maxValue\":1}}]}}"
#define LOSS "{\"metricId\":\"loss\",\"goal\":\"MINIMIZE\"}"
#define SPEED "{\"metricId\":\"speed\",\"goal\":\"MAXIMIZE\"}"
#define MEMORY                                                                 \
    "{\"metricId\":\"memory\",\"goal\":\"MINIMIZE\","                          \
    "\"safetyConfig\":{\"safetyThreshold\":4}}"

static void open_place(struct place *place, const char *spec)
{
    const struct study_row study = {.id = 1,
                                    .project = "p",
                                    .location = "l",
                                    .name = "s",
                                    .display = "S",
                                    .spec = spec,
                                    .reason = ""};
    db_place_open(&place->file);
    place->arena = arena_new();
    CHECK(db_open(place->file.path, &place->db, NULL) == HT_OK);
    CHECK(db_study_insert(place->db, &study, NULL) == HT_OK);
    CHECK(vertex_parse(place->arena, spec, &place->job, NULL) == HT_OK);
}

static void close_place(struct place *place)
{
    db_close(place->db);
    arena_free(place->arena);
    db_place_close(&place->file);
}

static struct trial_row trial_of(struct place *place, int64_t id, double loss,
                                 double speed, double memory)
{
    return (struct trial_row){
        .study = 1,
        .id = id,
        .state = TRIAL_SUCCEEDED,
        .params = arena_printf(place->arena, "{\"x\":%lld}", (long long)id),
        .reason = "",
        .has_objective = true,
        .objective = loss,
        .final_metrics = arena_printf(
            place->arena, "{\"loss\":%g,\"speed\":%g,\"memory\":%g}", loss,
            speed, memory)};
}

static const char *list_text(struct place *place, const struct id_list *ids)
{
    const char *text = "";
    for (size_t i = 0; i < ids->n; i++)
        text = arena_printf(place->arena, "%s%s%lld", text, i > 0 ? " " : "",
                            (long long)ids->ids[i]);
    return text;
}

/* Ends a trial as the core does. */
static struct pareto_trials_change change_by(struct place *place,
                                             const struct trial_row *trial)
{
    bool inserted;
    struct pareto_trials_change change = {0};
    CHECK(db_trial_insert(place->db, trial, &inserted, NULL) == HT_OK);
    CHECK(pareto_trials_note(place->db, place->arena, place->job, trial,
                             &change, NULL) == HT_OK);
    CHECK(db_trial_save(place->db, trial, NULL) == HT_OK);
    return change;
}

static bool end_trial(struct place *place, const struct trial_row *trial)
{
    return change_by(place, trial).gain;
}

static bool add(struct place *place, int64_t id, double loss, double speed,
                double memory)
{
    const struct trial_row trial = trial_of(place, id, loss, speed, memory);
    return end_trial(place, &trial);
}

static const char *front_in(struct place *place, bool within)
{
    const struct pareto_trials_scope scope = {.study = 1, .within = within};
    struct id_list ids = {0};
    CHECK(pareto_trials_list(place->db, place->arena, &scope, place->job, &ids,
                             NULL) == HT_OK);
    return list_text(place, &ids);
}

static int64_t best_in(struct place *place, bool within)
{
    const struct pareto_trials_scope scope = {.study = 1, .within = within};
    struct trial_row best = {0};
    const enum ht_status status = pareto_trials_best(
        place->db, place->arena, &scope, place->job, &best, NULL);
    CHECK(status == HT_OK || status == HT_NOT_FOUND);
    return status == HT_OK ? best.id : 0;
}

static const char *front_of(struct place *place)
{
    return front_in(place, false);
}

static int64_t best_of(struct place *place)
{
    return best_in(place, false);
}

static void what_nothing_beats_is_marked(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED));
    CHECK_TEXT(front_of(&place), "");
    CHECK(best_of(&place) == 0);
    CHECK(add(&place, 1, 3, 3, 0));
    CHECK(add(&place, 2, 2, 1, 0));
    CHECK(!add(&place, 3, 4, 3, 0));
    CHECK(!add(&place, 4, 2, 1, 0));
    CHECK_TEXT(front_of(&place), "1 2 4");
    CHECK(best_of(&place) == 2);
    CHECK(add(&place, 5, 1, 3, 0));
    CHECK_TEXT(front_of(&place), "5");
    close_place(&place);
}

static void outside_the_bounds_nothing_is_best(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED "," MEMORY));
    CHECK(!add(&place, 1, 0, 9, 4.5));
    CHECK(best_of(&place) == 0);
    CHECK(add(&place, 2, 3, 3, 4));
    CHECK(!add(&place, 3, 0, 9, 5));
    CHECK_TEXT(front_of(&place), "2");
    close_place(&place);
    open_place(&place, SPEC(MEMORY "," LOSS));
    CHECK(!add(&place, 1, 0, 0, 5));
    CHECK(add(&place, 2, 2, 0, 1));
    CHECK(add(&place, 3, 1, 0, 4));
    CHECK(!add(&place, 4, 1, 0, 3));
    CHECK_TEXT(front_of(&place), "3");
    CHECK(best_of(&place) == 3);
    close_place(&place);
}

static void one_metric_has_one_best(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS));
    CHECK(add(&place, 1, 2, 0, 0));
    CHECK(!add(&place, 2, 2, 0, 0));
    CHECK(add(&place, 3, 1, 0, 0));
    CHECK(!add(&place, 4, 1, 0, 0));
    CHECK_TEXT(front_of(&place), "3");
    close_place(&place);
}

static void what_a_lost_result_beat_is_found_again(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED));
    add(&place, 1, 3, 3, 0);
    add(&place, 2, 3, 3, 0);
    add(&place, 3, 1, 9, 0);
    CHECK_TEXT(front_of(&place), "3");
    struct trial_row gone = trial_of(&place, 3, 1, 9, 0);
    CHECK(pareto_trials_forget(place.db, place.job, &gone, NULL) == HT_OK);
    CHECK_TEXT(front_of(&place), "1 2");
    CHECK(db_trial_erase(place.db, &gone, NULL) == HT_OK);
    CHECK_TEXT(front_of(&place), "1 2");
    close_place(&place);
}

/* Whatever the others are: nothing is read of them. */
static void a_lost_result_that_was_beaten_changes_nothing(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED));
    add(&place, 1, 3, 3, 0);
    add(&place, 2, 1, 9, 0);
    CHECK(db_front_clear(place.db, 1, NULL) == HT_OK);
    const struct trial_row gone = trial_of(&place, 1, 3, 3, 0);
    CHECK(pareto_trials_forget(place.db, place.job, &gone, NULL) == HT_OK);
    CHECK_TEXT(front_of(&place), "");
    close_place(&place);
}

/* All over again, page by page; some results are of no use. */
static void a_lost_result_of_the_front_lets_others_in(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED));
    CHECK(db_begin(place.db, NULL) == HT_OK); /* one sync, not 1200 */
    for (int64_t id = 1; id <= 1200; id++)
        add(&place, id, (double)(id % 40), (double)(id % 40 + id / 1000), 0);
    CHECK(db_commit(place.db, NULL) == HT_OK);
    const char *before = front_of(&place);
    struct trial_row bare = trial_of(&place, 2000, -1, 99, 0);
    bare.final_metrics = "{\"loss\":-1}";
    CHECK(!end_trial(&place, &bare));
    CHECK(strlen(before) > 100);
    add(&place, 2001, -2, 999, 0);
    CHECK_TEXT(front_of(&place), "2001");
    const struct trial_row gone = trial_of(&place, 2001, -2, 999, 0);
    CHECK(pareto_trials_forget(place.db, place.job, &gone, NULL) == HT_OK);
    CHECK_TEXT(front_of(&place), before);
    close_place(&place);
}

static void put_outside(struct place *place, int64_t id)
{
    const struct trial_row row = {.study = 1, .id = id, .outside = true};
    CHECK(db_trial_set_outside(place->db, &row, NULL) == HT_OK);
}

static void the_front_within_has_what_those_outside_beat(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED));
    add(&place, 1, 1, 9, 0);
    add(&place, 2, 2, 5, 0);
    add(&place, 3, 3, 4, 0);
    add(&place, 4, 4, 7, 0);
    CHECK_TEXT(front_in(&place, true), "1");
    put_outside(&place, 1);
    CHECK_TEXT(front_of(&place), "1");
    CHECK_TEXT(front_in(&place, true), "2 4");
    CHECK(best_of(&place) == 1 && best_in(&place, true) == 2);
    put_outside(&place, 2);
    put_outside(&place, 3);
    put_outside(&place, 4);
    CHECK_TEXT(front_in(&place, true), "");
    CHECK(best_in(&place, true) == 0);
    close_place(&place);
}

static void the_one_best_within_is_not_outside(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS));
    add(&place, 1, 1, 0, 0);
    add(&place, 2, 3, 0, 0);
    add(&place, 3, 2, 0, 0);
    put_outside(&place, 1);
    CHECK(best_of(&place) == 1 && best_in(&place, true) == 3);
    CHECK_TEXT(front_in(&place, true), "3");
    close_place(&place);
}

static void other_bounds_decide_the_front_anew(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," MEMORY));
    add(&place, 1, 1, 0, 9);
    add(&place, 2, 2, 0, 3);
    CHECK(best_of(&place) == 2);
    struct metric_goal goals[2] = {place.job->metrics[0],
                                   place.job->metrics[1]};
    goals[1].threshold = 10;
    place.job->metrics = goals;
    CHECK(best_of(&place) == 2); /* the marks are of the old bound */
    CHECK(pareto_trials_renew(place.db, place.job, 1, NULL) == HT_OK);
    CHECK(best_of(&place) == 1);
    close_place(&place);
}

static void a_repetition_is_not_in_the_front(void)
{
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED));
    add(&place, 1, 3, 3, 0);
    struct trial_row again = trial_of(&place, 2, 1, 9, 0);
    bool inserted;
    again.confirms = 1;
    CHECK(db_trial_insert(place.db, &again, &inserted, NULL) == HT_OK);
    CHECK(db_trial_save(place.db, &again, NULL) == HT_OK);
    add(&place, 3, 2, 4, 0);
    CHECK_TEXT(front_of(&place), "3");
    const struct trial_row gone = trial_of(&place, 3, 2, 4, 0);
    CHECK(pareto_trials_forget(place.db, place.job, &gone, NULL) == HT_OK);
    CHECK_TEXT(front_of(&place), "1");
    close_place(&place);
}

static void what_it_beats_is_told(void)
{
    static const struct {
        double loss, speed;
        const char *beaten;
    } trials[] = {{3, 3, ""}, {4, 4, ""},  {4, 4, ""},
                  {5, 2, ""}, {2, 3, "1"}, {1, 9, "2 3 5"}};
    struct place place;
    open_place(&place, SPEC(LOSS "," SPEED));
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const struct trial_row trial = trial_of(
            &place, (int64_t)i + 1, trials[i].loss, trials[i].speed, 0);
        const struct pareto_trials_change change = change_by(&place, &trial);
        CHECK_TEXT(list_text(&place, &change.beaten), trials[i].beaten);
    }
    close_place(&place);
}

int main(void)
{
    json_init();
    RUN(what_nothing_beats_is_marked);
    RUN(outside_the_bounds_nothing_is_best);
    RUN(one_metric_has_one_best);
    RUN(what_a_lost_result_beat_is_found_again);
    RUN(a_lost_result_that_was_beaten_changes_nothing);
    RUN(a_lost_result_of_the_front_lets_others_in);
    RUN(a_repetition_is_not_in_the_front);
    RUN(the_front_within_has_what_those_outside_beat);
    RUN(the_one_best_within_is_not_outside);
    RUN(other_bounds_decide_the_front_anew);
    RUN(what_it_beats_is_told);
    return check_done();
}
