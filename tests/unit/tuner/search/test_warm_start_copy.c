/* Results of earlier studies that a new study gets, and studies that it cannot
 * start from. */
#include "tests/lib/core_fixture.h"
#include "tuner/db/prior.h"

#define SPEC(name, low, more)                                                  \
    "spec: 1\nname: " name "\ngoal: maximize accuracy\n"                       \
    "parameters:\n  lr: {type: double, min: " low ", max: 1}\nseed: 7\n"       \
    "algorithm: random\ntrials: 9\nparallel: 1\ncommand: [./train]\n" more

static struct prior_list priors_of(struct fixture *f, int64_t study)
{
    struct prior_list list = {0};
    struct db *db = fixture_db(f);
    CHECK(db_prior_list(db, f->arena, study, &list, NULL) == HT_OK);
    db_close(db);
    return list;
}

/* Study a with one result. */
static void run_first(struct fixture *f)
{
    fixture_submit(f, SPEC("a", "0", ""));
    fixture_hello(f, 1);
    const struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
}

static void results_at_points_of_the_new_space_are_its_own(struct fixture *f)
{
    run_first(f);
    CHECK(fixture_submit(f, SPEC("b", "0", "warmStart: [a]\n"))->status ==
          HT_OK);
    const struct prior_list list = priors_of(f, 2);
    CHECK(list.n == 1 && list.rows[0].origin == 1);
    CHECK(list.rows[0].same && list.rows[0].results == 1);
    CHECK(list.rows[0].own == 1 && !list.rows[0].inherited);
    CHECK_TEXT(list.rows[0].resource,
               "projects/local/locations/local/studies/1");
    /* What a started from itself comes with it. */
    CHECK(fixture_submit(f, SPEC("c", "0", "warmStart: [b]\n"))->status ==
          HT_OK);
    const struct prior_list further = priors_of(f, 3);
    CHECK(further.n == 2 && further.rows[0].origin == 1);
    CHECK(further.rows[0].inherited && further.rows[1].origin == 2);
}

static void a_study_that_cannot_teach_is_refused(struct fixture *f)
{
    static const struct {
        const char *spec, *why;
    } cases[] = {
        {SPEC("b", "0", "warmStart: [z]\n"), "study \"z\" does not exist"},
        {SPEC("b", "0", "warmStart: [a, '1']\n"), "study \"1\" is named twice"},
        {"spec: 1\nname: b\ngoal: maximize accuracy\n"
         "parameters:\n  other: {type: double, min: 0, max: 1}\n"
         "trials: 9\nparallel: 1\ncommand: [./train]\nwarmStart: [a]\n",
         "study \"a\" has no parameter in common with this one"}};
    run_first(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request *req = fixture_submit(f, cases[i].spec);
        CHECK(req->status == HT_INVALID);
        CHECK(strstr(req->err.text, cases[i].why) != NULL);
    }
}

int main(void)
{
    RUN_ON_CORE(results_at_points_of_the_new_space_are_its_own);
    RUN_ON_CORE(a_study_that_cannot_teach_is_refused);
    return check_done();
}
