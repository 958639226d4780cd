/* From the events of studies to deliveries, and where reading begins. */
#include "tuner/webhook/event_reader.h"

#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"
#include "tuner/webhook/outbox.h"

static const char spec[] =
    "spec: 1\nname: s\ngoal: maximize accuracy\n"
    "parameters:\n  lr: {type: double, min: 0, max: 1}\nseed: 7\n"
    "algorithm: random\ntrials: 9\nparallel: 1\ncommand: [./train]\n";

static const struct webhook hook = {
    .name = "w", .studies = "*", .on = 1U << NOTIFY_TRIAL_ENDED};
static const struct webhook_rules rules = {.n = 1, .items = &hook};

static struct db *open_outbox(struct fixture *f)
{
    struct db *outbox = NULL;
    const char *path = arena_printf(f->arena, "%s/webhooks.db", f->dir);
    CHECK(webhook_outbox_open(path, &outbox, NULL) == HT_OK);
    return outbox;
}

static size_t read_changed(struct webhook_reader *reader)
{
    static const atomic_bool stop;
    size_t n = 99;
    CHECK(webhook_reader_read(reader, &rules, &stop, &n, NULL) == HT_OK);
    return n;
}

static bool start(struct fixture *f, struct webhook_reader *reader,
                  struct db *outbox)
{
    bool resumed = false;
    CHECK(webhook_reader_start(reader, f->dir, "http://h", outbox, &resumed,
                               NULL) == HT_OK);
    return resumed;
}

static void only_what_happens_after_the_start_is_delivered(struct fixture *f)
{
    struct webhook_delivery first = {0};
    struct db *outbox = open_outbox(f);
    struct webhook_reader *reader = webhook_reader_new();
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    CHECK(!start(f, reader, outbox));
    CHECK(webhook_reader_note(reader, 1));
    CHECK(!webhook_reader_note(reader, 1)); /* the thread is awake already */
    CHECK(read_changed(reader) == 1);
    CHECK(webhook_outbox_first(outbox, f->arena, "w", &first, NULL) ==
          HT_NOT_FOUND);
    leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.75");
    webhook_reader_note(reader, 1);
    CHECK(read_changed(reader) == 1);
    CHECK(webhook_outbox_first(outbox, f->arena, "w", &first, NULL) == HT_OK);
    CHECK_TEXT(first.event, "trial.ended");
    CHECK(strstr(first.body, "\"trial\":{\"id\":2") != NULL);
    CHECK(strstr(first.body, "\"link\":\"http://h/#/studies/1\"") != NULL);
    CHECK(read_changed(reader) == 0);
    webhook_reader_free(reader);
    db_close(outbox);
    db_place_remove(f->dir, "webhooks");
}

static void a_further_start_reads_on_from_the_marks(struct fixture *f)
{
    struct webhook_delivery first = {0};
    struct db *outbox = open_outbox(f);
    struct webhook_reader *reader = webhook_reader_new();
    fixture_submit(f, spec);
    fixture_hello(f, 1);
    CHECK(!start(f, reader, outbox));
    webhook_reader_free(reader);
    const struct leased leased = fixture_lease_one(f);
    fixture_succeed(f, &leased, "0.5");
    reader = webhook_reader_new();
    CHECK(start(f, reader, outbox));
    CHECK(read_changed(reader) == 1);
    CHECK(webhook_outbox_first(outbox, f->arena, "w", &first, NULL) == HT_OK);
    CHECK(first.study == 1);
    webhook_reader_free(reader);
    db_close(outbox);
    db_place_remove(f->dir, "webhooks");
}

int main(void)
{
    RUN_ON_CORE(only_what_happens_after_the_start_is_delivered);
    RUN_ON_CORE(a_further_start_reads_on_from_the_marks);
    return check_done();
}
