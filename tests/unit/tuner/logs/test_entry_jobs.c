/* Which jobs' logs a request selects. */
#include "tuner/logs/entry_jobs.h"

#include "tests/lib/db_place.h"
#include "tuner/ask/filter.h"
#include "tuner/db/write.h"
#include "tuner/logs/entry.h"

static const char *names[] = {"p", "q", "p"};

/* Tuning jobs 1 of project p, 2 of p by AI Platform and 3 of q; 4 of p is a
 * study of clients. */
static void put_all(struct db *db)
{
    for (int64_t id = 2; id <= 4; id++) {
        struct study_row row = db_place_study;
        row.id = id;
        row.project = id == 3 ? "q" : "p";
        row.name = id == 2 ? "old" : id == 3 ? "other" : "asked";
        row.submitted = id == 2 ? "{}" : "";
        row.job_spec = row.ended = "";
        row.kind = id == 4 ? JOB_STUDY : JOB_TUNING;
        CHECK(db_study_insert(db, &row, NULL) == HT_OK);
        CHECK(db_study_save(db, &row, NULL) == HT_OK);
    }
}

/* Of the first n projects; `text` may be NULL. */
static struct entry_jobs find(struct db_case *c, size_t n, const char *text)
{
    struct entry_jobs jobs = {0};
    const struct strings projects = {n, names};
    const struct filter *filter = NULL;
    CHECK(filter_read_log(c->arena, text, &entry_language, &filter, NULL) ==
          HT_OK);
    CHECK(entry_jobs_find(c->db, c->arena, &projects, filter, &jobs, NULL) ==
          HT_OK);
    return jobs;
}

static void all_jobs_of_the_projects_are_found_once(struct db_case *c)
{
    put_all(c->db);
    CHECK(find(c, 0, NULL).n == 0);
    const struct entry_jobs jobs = find(c, 3, NULL);
    CHECK(jobs.n == 3);
    if (jobs.n != 3)
        return;
    CHECK(jobs.items[0].study == 2 && jobs.items[1].study == 1 &&
          jobs.items[2].study == 3);
    CHECK_TEXT(jobs.items[2].project, "q");
}

static void a_job_has_the_id_of_the_api_that_made_it(struct db_case *c)
{
    put_all(c->db);
    const struct entry_jobs jobs = find(c, 1, "severity>=INFO");
    CHECK(jobs.n == 2);
    if (jobs.n != 2)
        return;
    CHECK_TEXT(jobs.items[0].id, "old");
    CHECK(jobs.items[0].is_legacy);
    CHECK_TEXT(jobs.items[1].id, "1");
    CHECK(!jobs.items[1].is_legacy);
    CHECK_TEXT(jobs.items[1].names[0], "digits");
    CHECK_TEXT(jobs.items[1].names[1], "1");
}

static void a_named_job_has_the_id_of_the_filter(struct db_case *c)
{
    put_all(c->db);
    struct entry_jobs jobs = find(c, 2, "resource.labels.job_id=digits");
    CHECK(jobs.n == 1 && jobs.items[0].study == 1 && jobs.items[0].is_legacy);
    jobs = find(c, 2, "resource.labels.job_id=2");
    CHECK(jobs.n == 1 && jobs.items[0].study == 2 && !jobs.items[0].is_legacy);
    if (jobs.n == 1)
        CHECK_TEXT(jobs.items[0].id, "2");
}

static void a_job_with_two_names_is_found_once(struct db_case *c)
{
    put_all(c->db);
    const struct entry_jobs jobs =
        find(c, 1, "resource.labels.job_id=(digits OR 1 OR nothing)");
    CHECK(jobs.n == 1 && jobs.items[0].study == 1);
}

static void jobs_of_other_projects_and_studies_are_not_found(struct db_case *c)
{
    put_all(c->db);
    CHECK(find(c, 1, "resource.labels.job_id=other").n == 0);
    CHECK(find(c, 1, "resource.labels.job_id=asked").n == 0);
    CHECK(find(c, 2, "resource.labels.job_id=other").n == 1);
}

int main(void)
{
    RUN_ON_DB(all_jobs_of_the_projects_are_found_once);
    RUN_ON_DB(a_job_has_the_id_of_the_api_that_made_it);
    RUN_ON_DB(a_named_job_has_the_id_of_the_filter);
    RUN_ON_DB(a_job_with_two_names_is_found_once);
    RUN_ON_DB(jobs_of_other_projects_and_studies_are_not_found);
    return check_done();
}
