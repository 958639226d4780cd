/* Models of a study: what they are made from, and how long they are kept. */
#include "tuner/search/models.h"

#include "algorithms/model/history.h"
#include "tests/lib/core_fixture.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\nseed: 7\n"
    "algorithm: random\ntrials: 9\nparallel: 1\ncommand: [./train]\n";

static void succeed(struct fixture *f, const char *accuracy)
{
    const struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, accuracy);
}

static struct models *look(struct fixture *f, struct models **kept)
{
    struct models *models = NULL;
    const struct study_row row = fixture_study(f, 1);
    struct db *db = fixture_db(f);
    CHECK(models_of(kept, db, &row, &models, NULL) == HT_OK);
    db_close(db);
    return models;
}

static void models_are_kept_until_a_result_comes(struct fixture *f)
{
    struct models *kept = NULL;
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    succeed(f, "0.5");
    succeed(f, "0.25");
    struct models *models = look(f, &kept);
    CHECK(models == kept && models_history(models)->n == 2);
    CHECK(strcmp(models_job(models)->metrics[0].name, "accuracy") == 0);
    CHECK(models_model(models, 0) == NULL); /* of two results none is made */
    CHECK(models_importances(models, 0) == NULL);
    fixture_begin(f); /* a new revision without a result */
    CHECK(look(f, &kept) == models && models_history(models)->n == 2);
    models_free(kept);
}

static void three_results_make_a_model(struct fixture *f)
{
    struct models *kept = NULL;
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    succeed(f, "0.5");
    succeed(f, "0.25");
    CHECK(models_history(look(f, &kept))->n == 2);
    succeed(f, "0.75");
    struct models *models = look(f, &kept);
    CHECK(models_history(models)->n == 3);
    const struct goal_model *model = models_model(models, 0);
    CHECK(model != NULL && models_model(models, 0) == model);
    models_free(kept);
}

static void a_study_that_cannot_be_read_leaves_nothing(struct fixture *f)
{
    struct models *kept = NULL, *models = NULL;
    const struct study_row row = {.id = 1, .spec = "no JSON"};
    struct db *db = fixture_db(f);
    CHECK(models_of(&kept, db, &row, &models, NULL) != HT_OK);
    CHECK(kept == NULL && models == NULL);
    db_close(db);
}

int main(void)
{
    RUN_ON_CORE(models_are_kept_until_a_result_comes);
    RUN_ON_CORE(three_results_make_a_model);
    RUN_ON_CORE(a_study_that_cannot_be_read_leaves_nothing);
    return check_done();
}
