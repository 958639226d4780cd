#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/cluster/batch.h"
#include "runner/cluster/listing.h"
#include "runner/element/element.h"
#include "tests/lib/runner_fixture.h"

static char state[PATH_MAX];

static struct batch *make_with(const char *name, int n,
                               const struct slurm_pool *pools, size_t n_pools)
{
    struct arena *arena = arena_new();
    const struct slurm_need need = {
        .section = {.said = true, .partition = "main", .trials_per_job = 3},
        .n_pools = n_pools,
        .pools = pools,
        .grace_ms = 5000};
    const struct batch_model model = {.name = name,
                                      .study = 7,
                                      .hash = "hash",
                                      .text = slurm_need_write(arena, &need),
                                      .n = n};
    struct batch *batch = NULL;
    CHECK(batch_make(state, &model, &batch, NULL) == HT_OK);
    arena_free(arena);
    return batch;
}

static struct batch *make(const char *name, int n)
{
    const struct slurm_pool pool = {.count = 1, .cpus = 2};
    return make_with(name, n, &pool, 1);
}

/* A listing of these rows, after so many tasks. */
static void apply(struct batch *batch, struct slurm_row *rows, size_t n,
                  uint64_t done, int64_t now_ms)
{
    const struct clerk_listing listing = {.rows = {n, rows}, .done = done};
    const int64_t job = listing_find(batch, &listing);
    if (job > 0)
        CHECK(batch_know(batch, job, NULL) == HT_OK);
    listing_apply(batch, &listing, now_ms);
}

static struct slurm_row row(int first, int last, enum slurm_state status)
{
    return (struct slurm_row){.job = 17,
                              .first = first,
                              .last = last,
                              .name = "ht-x-7-1",
                              .state = status,
                              .reason = "None",
                              .nodes = "",
                              .exit = -1,
                              .signal = -1};
}

static void a_batch_is_read_back(void)
{
    struct batch *batch = make("ht-x-7-1", 4), *read = NULL;
    struct ht_error err;
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    CHECK(batch_read(state, "ht-x-7-1", &read, &err) == HT_OK);
    CHECK(read->study == 7 && read->job == 17 && read->n == 4);
    CHECK_TEXT(read->hash, "hash");
    CHECK_TEXT(read->need.section.partition, "main");
    CHECK(read->need.section.trials_per_job == 3 &&
          read->need.grace_ms == 5000 && read->need.pools[0].cpus == 2);
    batch_remove(read);
    batch_free(read);
    batch_free(batch);
    CHECK(batch_read(state, "ht-x-7-1", &read, &err) == HT_NOT_FOUND);
}

static void what_is_left_of_a_removed_batch_is_cleared(void)
{
    struct arena *arena = arena_new();
    struct batch *batch = make("ht-x-7-1", 1);
    const char *element = batch_element(batch, arena, 0);
    CHECK(mkdir(element, 0700) == 0);
    CHECK(element_ask(element, 1, NULL) == HT_OK);
    batch_clear(state, "ht-x-7-1");
    CHECK(!disk_has(batch_root(arena, state), "ht-x-7-1"));
    batch_free(batch);
    arena_free(arena);
}

static void a_submission_without_an_answer_is_found_by_its_name(void)
{
    struct batch *batch = make("ht-x-7-1", 2);
    struct slurm_row rows[] = {row(0, 1, SLURM_PENDING)};
    apply(batch, NULL, 0, 0, 1000);
    CHECK(batch->job == 0 && !batch->slots[0].gone);
    apply(batch, rows, 1, 0, 2000);
    CHECK(batch->job == 17 && batch->unknown_at == 0);
    batch_remove(batch);
    batch_free(batch);
}

static void one_that_no_listing_has_is_given_up(void)
{
    struct batch *batch = make("ht-x-7-1", 2);
    apply(batch, NULL, 0, 0, 1000);
    apply(batch, NULL, 0, 0, 30999);
    CHECK(!batch->slots[0].gone);
    apply(batch, NULL, 0, 0, 31000);
    CHECK(batch->slots[0].gone && batch->slots[1].gone);
    batch_remove(batch);
    batch_free(batch);
}

static void a_listing_from_before_the_submission_says_nothing(void)
{
    struct batch *batch = make("ht-x-7-1", 1);
    batch->submit = 5;
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    for (int i = 0; i < 5; i++)
        apply(batch, NULL, 0, 4, 1000);
    CHECK(!batch->slots[0].gone);
    apply(batch, NULL, 0, 5, 1000);
    CHECK(!batch->slots[0].gone);
    apply(batch, NULL, 0, 5, 1000);
    CHECK(batch->slots[0].gone);
    CHECK(batch->slots[0].vanished);
    batch_remove(batch);
    batch_free(batch);
}

static void states_go_to_the_elements_of_a_row(void)
{
    struct batch *batch = make("ht-x-7-1", 4);
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    struct slurm_row rows[] = {row(2, 3, SLURM_PENDING),
                               row(0, 0, SLURM_RUNNING),
                               row(1, 1, SLURM_NODE_FAIL)};
    rows[1].nodes = "n1";
    rows[1].end_ms = 5000;
    rows[2].nodes = "n2";
    rows[2].reason = "NodeDown";
    apply(batch, rows, 3, 0, 0);
    CHECK(batch->slots[0].state == SLURM_RUNNING);
    CHECK(batch->slots[0].end_ms == 5000);
    CHECK_TEXT(batch->slots[0].nodes, "n1");
    CHECK(batch->slots[1].gone && !batch->slots[3].gone);
    struct arena *arena = arena_new();
    CHECK(batch_end(batch, arena, 1).exclude);
    CHECK(strstr(batch_end(batch, arena, 1).words, "n2") != NULL);
    arena_free(arena);
    batch_remove(batch);
    batch_free(batch);
}

static void a_cancelled_element_that_is_still_listed_counts_again(void)
{
    struct batch *batch = make("ht-x-7-1", 2);
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    struct slurm_row rows[] = {row(0, 0, SLURM_RUNNING),
                               row(1, 1, SLURM_CANCELLED)};
    batch->slots[0].cancel = batch->slots[1].cancel = 3;
    apply(batch, rows, 2, 2, 0);
    CHECK(batch->slots[0].cancel == 3);
    apply(batch, rows, 2, 3, 0);
    CHECK(batch->slots[0].cancel == 0);
    CHECK(batch->slots[1].gone && batch->slots[1].cancel == 3);
    batch_remove(batch);
    batch_free(batch);
}

/* Slurm lists the first elements that wait, and cuts the rest off. */
static void what_is_cut_off_still_waits_unless_it_was_cancelled(void)
{
    struct batch *batch = make("ht-x-7-1", 6);
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    struct slurm_row all[] = {row(0, 0, SLURM_RUNNING),
                              row(1, 1, SLURM_RUNNING),
                              row(2, 5, SLURM_PENDING)};
    struct slurm_row cut[] = {row(0, 0, SLURM_RUNNING),
                              row(2, 2, SLURM_PENDING),
                              row(3, 10000000, SLURM_PENDING)};
    cut[2].cut = true;
    apply(batch, all, 3, 0, 0);
    batch->slots[5].cancel = 4;
    for (int i = 0; i < 3; i++)
        apply(batch, cut, 3, 4, 0);
    CHECK(!batch->slots[0].gone && batch->slots[0].state == SLURM_RUNNING);
    CHECK(batch->slots[1].vanished);
    for (int i = 2; i < 5; i++)
        CHECK(!batch->slots[i].gone && batch->slots[i].state == SLURM_PENDING);
    CHECK(batch->slots[5].vanished);
    CHECK(!listing_is_stray(NULL, &cut[2]) && listing_is_stray(NULL, &cut[1]));
    batch_remove(batch);
    batch_free(batch);
}

/* A person holds it: it still waits; what had begun was stopped by Slurm. */
static void a_held_element_has_ended_only_if_it_had_begun(void)
{
    struct batch *batch = make("ht-x-7-1", 2);
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    struct slurm_row rows[] = {row(0, 1, SLURM_HELD)};
    batch->slots[1].turn = 1;
    apply(batch, rows, 1, 0, 0);
    CHECK(!batch->slots[0].gone && batch->slots[1].gone);
    batch_remove(batch);
    batch_free(batch);
}

/* Slurm puts it back into the queue, where a cancellation may have no effect
 * yet. */
static void one_that_is_put_back_lingers_until_it_is_not_listed(void)
{
    struct batch *batch = make("ht-x-7-1", 2);
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    struct slurm_row rows[] = {row(0, 0, SLURM_REQUEUED),
                               row(1, 1, SLURM_COMPLETED)};
    batch->slots[0].turn = 1;
    apply(batch, rows, 2, 0, 0);
    CHECK(batch->slots[0].gone && batch->slots[0].lingers);
    CHECK(batch->slots[1].gone && !batch->slots[1].lingers);
    batch->slots[0].cancel = 3;
    rows[0].state = SLURM_RUNNING;
    apply(batch, rows, 2, 3, 0);
    CHECK(batch->slots[0].gone && batch->slots[0].lingers);
    CHECK(batch->slots[0].cancel == 0);
    rows[0].state = SLURM_CANCELLED;
    apply(batch, rows, 2, 4, 0);
    CHECK(batch->slots[0].gone && !batch->slots[0].lingers);
    apply(batch, rows + 1, 1, 5, 0);
    CHECK(!batch->slots[0].lingers);
    batch_remove(batch);
    batch_free(batch);
}

static void jobs_of_no_batch_are_strays(void)
{
    struct batch *batch = make("ht-x-7-1", 2);
    struct slurm_row one = row(0, 0, SLURM_PENDING);
    CHECK(!listing_is_stray(batch, &one)); /* it may be this one */
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    CHECK(!listing_is_stray(batch, &one));
    one.job = 18; /* accepted twice */
    CHECK(listing_is_stray(batch, &one));
    one.state = SLURM_CANCELLED;
    CHECK(!listing_is_stray(batch, &one));
    batch_remove(batch);
    batch_free(batch);
}

static void questions_are_seen_in_the_elements_folders(void)
{
    struct batch *batch = make("ht-x-7-1", 1);
    struct arena *arena = arena_new();
    const char *folder = batch_element(batch, arena, 0);
    batch_look(batch, 0);
    CHECK(batch->slots[0].turn == 0 && !batch->slots[0].asks);
    CHECK(mkdir(folder, 0700) == 0);
    CHECK(element_ask(folder, 1, NULL) == HT_OK);
    batch_look(batch, 0);
    CHECK(batch->slots[0].turn == 1 && batch->slots[0].asks);
    const struct element_answer end = {.end = true};
    CHECK(element_answer_write(folder, 1, &end, NULL) == HT_OK);
    batch_look(batch, 0);
    CHECK(batch->slots[0].turn == 1 && !batch->slots[0].asks);
    arena_free(arena);
    batch_remove(batch);
    batch_free(batch);
}

static void an_early_end_has_the_last_lines_of_the_output(void)
{
    struct batch *batch = make("ht-x-7-1", 1);
    struct arena *arena = arena_new();
    CHECK(batch_know(batch, 17, NULL) == HT_OK);
    struct slurm_row one = row(0, 0, SLURM_FAILED);
    one.exit = 127;
    one.nodes = "n3";
    one.reason = "NonZeroExitCode";
    static const char output[] = "first\nhypertune-shim: not found\n\n";
    CHECK(disk_write(batch->folder, "0.out", output, sizeof output - 1, 0600,
                     NULL) == HT_OK);
    apply(batch, &one, 1, 0, 0);
    CHECK_TEXT(listing_describe_end(arena, batch, 0),
               "job 17_0 ended before it asked for a trial, on n3: its element "
               "failed in Slurm (NonZeroExitCode): first hypertune-shim: "
               "not found");
    arena_free(arena);
    batch_remove(batch);
    batch_free(batch);
}

/* However many are asked for: Slurm has no arrays of such jobs. */
static void a_heterogeneous_job_is_one_element_as_a_whole(void)
{
    const struct slurm_pool pools[] = {{.count = 1, .cpus = 2},
                                       {.count = 2, .cpus = 4}};
    struct batch *batch = make_with("ht-x-7-1", 4, pools, 2), *read = NULL;
    struct slurm_row one = row(SLURM_WHOLE, 0, SLURM_RUNNING);
    struct arena *arena = arena_new();
    apply(batch, &one, 1, 0, 0);
    CHECK(batch->n == 1 && batch->job == 17);
    CHECK(batch->slots[0].listed && batch->slots[0].state == SLURM_RUNNING);
    CHECK(batch_first(batch, 0) == SLURM_WHOLE);
    CHECK_TEXT(batch_element_id(batch, arena, 0), "17");
    CHECK(batch_read(state, "ht-x-7-1", &read, NULL) == HT_OK);
    CHECK(read->n == 1 && batch_first(read, 0) == SLURM_WHOLE);
    one.state = SLURM_COMPLETED;
    apply(batch, &one, 1, 0, 0);
    CHECK(batch->slots[0].gone);
    arena_free(arena);
    batch_remove(batch);
    batch_free(batch);
    batch_free(read);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    runner_fixture_folder(state);
    RUN(a_batch_is_read_back);
    RUN(what_is_left_of_a_removed_batch_is_cleared);
    RUN(a_submission_without_an_answer_is_found_by_its_name);
    RUN(one_that_no_listing_has_is_given_up);
    RUN(a_listing_from_before_the_submission_says_nothing);
    RUN(states_go_to_the_elements_of_a_row);
    RUN(a_cancelled_element_that_is_still_listed_counts_again);
    RUN(what_is_cut_off_still_waits_unless_it_was_cancelled);
    RUN(a_held_element_has_ended_only_if_it_had_begun);
    RUN(one_that_is_put_back_lingers_until_it_is_not_listed);
    RUN(jobs_of_no_batch_are_strays);
    RUN(questions_are_seen_in_the_elements_folders);
    RUN(a_heterogeneous_job_is_one_element_as_a_whole);
    RUN(an_early_end_has_the_last_lines_of_the_output);
    runner_fixture_fini();
    return check_done();
}
