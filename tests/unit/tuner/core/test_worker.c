/* A worker: whose turn it is, what it remembers of studies, and its rests. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/lib/core_fixture.h"
#include "tests/lib/db_place.h"
#include "tuner/core/worker.h"

enum { HELD_MS = 20, SPOILT = 1, FORGOTTEN = 2 /* numbers of questions */ };

/* What the role below and the test share. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool gate_shut;   /* answers wait at their begin */
    int64_t spoilt;   /* the study that cannot be read, once */
    size_t begun;     /* answers */
    size_t alive;     /* memories */
    struct text told; /* of answers, in their order */
    int64_t begin_ms[8], end_ms[8];
    size_t ended;
} scene = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};

struct memory_of_study {
    int64_t study;
    size_t reads;
};

static void *new_memory(int64_t study, const char *part)
{
    (void)part;
    struct memory_of_study *memory = ht_xcalloc(1, sizeof *memory);
    memory->study = study;
    scene.alive++;
    return memory;
}

static void free_memory(void *memory)
{
    scene.alive -= memory != NULL;
    free(memory);
}

static enum ht_status read_memory(void *data, struct db *db,
                                  struct ht_error *err)
{
    struct memory_of_study *memory = data;
    const char *value;
    memory->reads++;
    if (scene.spoilt == memory->study) {
        scene.spoilt = 0;
        return ht_fail(err, HT_UNAVAILABLE, "spoilt");
    }
    struct arena *arena = arena_new();
    const enum ht_status status = db_meta_get(db, arena, "none", &value, err);
    arena_free(arena);
    return status;
}

/* Tells "STUDY.NUMBERxNTEXT/READS ", or "STUDY! " where it could not read. */
static const void *answer(struct worker *worker,
                          const struct worker_question *question,
                          struct arena *arena)
{
    void *data;
    (void)arena;
    pthread_mutex_lock(&scene.lock);
    scene.begin_ms[scene.begun++ % 8] = clock_monotonic_ms();
    pthread_cond_broadcast(&scene.news);
    while (scene.gate_shut)
        pthread_cond_wait(&scene.news, &scene.lock);
    if (worker_read(worker, question->study, NULL, &data, NULL) == HT_OK) {
        const struct memory_of_study *memory = data;
        CHECK(memory->study == question->study);
        text_printf(&scene.told, "%d.%dx%d%s/%d ", (int)question->study,
                    (int)question->first, (int)question->n,
                    question->context == NULL ? "" : question->context,
                    (int)memory->reads);
        if (question->first == FORGOTTEN)
            worker_forget(worker);
    } else {
        text_printf(&scene.told, "%d! ", (int)question->study);
    }
    scene.end_ms[scene.ended++ % 8] = clock_monotonic_ms();
    pthread_cond_broadcast(&scene.news);
    pthread_mutex_unlock(&scene.lock);
    return NULL;
}

static const void *refuse(const struct worker_question *question,
                          struct arena *arena)
{
    (void)question;
    (void)arena;
    return NULL;
}

static const struct worker_role plain = {.name = "test",
                                         .studies = 3,
                                         .new = new_memory,
                                         .free = free_memory,
                                         .read = read_memory,
                                         .answer = answer,
                                         .refuse = refuse};

static struct worker *open_scene(struct db_place *place,
                                 const struct worker_role *role)
{
    struct worker *worker = NULL;
    struct db *db;
    db_place_open(place);
    CHECK(db_open(place->path, &db, NULL) == HT_OK);
    db_close(db);
    scene.begun = scene.ended = 0;
    CHECK(worker_start(role, NULL, NULL, place->path, &worker, NULL) == HT_OK);
    return worker;
}

/* What was told of one study, in its order. */
static void check_told(char study, const char *wanted)
{
    struct text told = {0};
    text_puts(&told, "");
    for (const char *at = scene.told.data; *at != '\0';) {
        const size_t len = strcspn(at, " ") + 1;
        if (*at == study)
            text_append(&told, at, len);
        at += len;
    }
    CHECK_TEXT(told.data, wanted);
    text_free(&told);
}

/* `told`: everything in its order; NULL: it was checked. */
static void close_scene(struct db_place *place, struct worker *worker,
                        const char *told)
{
    worker_stop(worker);
    if (told != NULL)
        CHECK_TEXT(scene.told.data, told);
    CHECK(scene.alive == 0);
    text_free(&scene.told);
    scene.told = (struct text){0};
    db_place_close(place);
}

static void ask(struct worker *worker, int64_t study, int64_t number, size_t n)
{
    worker_ask(worker, &(struct worker_question){
                           .study = study, .first = number, .n = n});
}

/* The text is gone when the question has its turn. */
static void ask_text(struct worker *worker, int64_t study, const char *text)
{
    char *copy = ht_xstrdup(text);
    worker_ask(worker, &(struct worker_question){
                           .study = study, .n = 1, .context = copy});
    memset(copy, '?', strlen(copy));
    free(copy);
}

static void shut_gate(bool shut)
{
    pthread_mutex_lock(&scene.lock);
    scene.gate_shut = shut;
    pthread_cond_broadcast(&scene.news);
    pthread_mutex_unlock(&scene.lock);
}

static void await(const size_t *count, size_t wanted)
{
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_MS / 1000;
    pthread_mutex_lock(&scene.lock);
    while (*count < wanted && code == 0)
        code = pthread_cond_timedwait(&scene.news, &scene.lock, &until);
    CHECK(*count >= wanted);
    pthread_mutex_unlock(&scene.lock);
}

/* One question of study 1 is being answered, one of study 2 waits. */
static struct worker *open_busy_scene(struct db_place *place)
{
    struct worker *worker = open_scene(place, &plain);
    shut_gate(true);
    ask(worker, 1, 0, 1);
    await(&scene.begun, 1);
    ask(worker, 2, 0, 1);
    return worker;
}

/* One that is being answered does not wait: it may be asked again. Which study
 * comes first depends on what their answers cost. */
static void questions_have_their_turn_and_equal_ones_are_one(void)
{
    struct db_place place;
    struct worker *worker = open_busy_scene(&place);
    ask(worker, 1, 0, 1);
    ask(worker, 2, 0, 1);
    ask(worker, 2, 3, 1);
    ask(worker, 2, 3, 4);
    ask(worker, 1, 0, 1);
    shut_gate(false);
    await(&scene.ended, 5);
    check_told('1', "1.0x1/1 1.0x1/2 ");
    check_told('2', "2.0x1/1 2.3x1/2 2.3x4/3 ");
    close_scene(&place, worker, NULL);
}

static void questions_of_other_texts_are_others(void)
{
    struct db_place place;
    struct worker *worker = open_scene(&place, &plain);
    shut_gate(true);
    ask(worker, 1, 0, 1);
    await(&scene.begun, 1);
    ask_text(worker, 2, "red");
    ask_text(worker, 2, "blue");
    ask(worker, 2, 0, 1);
    ask_text(worker, 2, "red");
    shut_gate(false);
    await(&scene.ended, 4);
    close_scene(&place, worker, "1.0x1/1 2.0x1red/1 2.0x1blue/2 2.0x1/3 ");
}

static void studies_asked_about_longest_ago_are_forgotten(void)
{
    static const int64_t studies[] = {1, 2, 3, 1, 4, 3, 1, 2, 4};
    const size_t n = sizeof studies / sizeof *studies;
    struct db_place place;
    struct worker *worker = open_scene(&place, &plain);
    for (size_t i = 0; i < n; i++) {
        ask(worker, studies[i], 0, 1);
        await(&scene.ended, i + 1);
        CHECK(scene.alive <= plain.studies);
    }
    close_scene(&place, worker,
                "1.0x1/1 2.0x1/1 3.0x1/1 1.0x1/2 4.0x1/1 "
                "3.0x1/2 1.0x1/3 2.0x1/1 4.0x1/1 ");
}

static void a_dropped_study_is_forgotten(void)
{
    struct db_place place;
    struct worker *worker = open_scene(&place, &plain);
    ask(worker, 4, 1, 1);
    ask(worker, 5, 1, 1);
    await(&scene.ended, 2);
    worker_drop(worker, 4);
    ask(worker, 4, 1, 1);
    ask(worker, 5, 1, 1);
    await(&scene.ended, 4);
    check_told('4', "4.1x1/1 4.1x1/1 ");
    check_told('5', "5.1x1/1 5.1x1/2 ");
    close_scene(&place, worker, NULL);
}

static void what_is_of_no_use_is_made_anew(void)
{
    static const int64_t asked[][2] = {{1, 0}, {2, 0}, {1, SPOILT},
                                       {1, 0}, {2, 0}, {2, FORGOTTEN},
                                       {1, 0}, {2, 0}};
    struct db_place place;
    struct worker *worker = open_scene(&place, &plain);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        if (asked[i][1] == SPOILT)
            scene.spoilt = asked[i][0];
        ask(worker, asked[i][0], asked[i][1], 1);
        await(&scene.ended, i + 1);
    }
    close_scene(&place, worker,
                "1.0x1/1 2.0x1/1 1! 1.0x1/1 2.0x1/2 2.2x1/3 1.0x1/2 2.0x1/1 ");
}

static void hold_one_answer(struct worker *worker)
{
    shut_gate(true);
    ask(worker, 1, 0, 1);
    ask(worker, 2, 0, 1);
    await(&scene.begun, 1);
    while (clock_monotonic_ms() < scene.begin_ms[0] + HELD_MS)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    shut_gate(false);
}

static void an_answer_that_took_long_is_rested_for_longer(void)
{
    struct worker_role role = plain;
    struct db_place place;
    role.rests = 4;
    struct worker *worker = open_scene(&place, &role);
    hold_one_answer(worker);
    await(&scene.ended, 2);
    const int64_t rested_ms = scene.begin_ms[1] - scene.end_ms[0];
    CHECK(rested_ms >= INT64_C(4) * HELD_MS);
    close_scene(&place, worker, "1.0x1/1 2.0x1/1 ");
}

/* It would rest for a second. */
static void stopping_drops_what_waits(void)
{
    struct worker_role role = plain;
    struct db_place place;
    role.rests = 1000000;
    struct worker *worker = open_scene(&place, &role);
    hold_one_answer(worker);
    await(&scene.ended, 1);
    close_scene(&place, worker, "1.0x1/1 ");
    CHECK(clock_monotonic_ms() - scene.end_ms[0] < 1000);
}

/* Twenty questions of one asker let that of another pass. */
static void askers_alternate(void)
{
    struct db_place place;
    struct worker *worker = open_scene(&place, &plain);
    shut_gate(true);
    ask(worker, 1, 0, 1);
    await(&scene.begun, 1);
    for (int i = 3; i < 23; i++)
        ask(worker, 1, i, 1);
    worker_ask(worker,
               &(struct worker_question){.study = 2, .n = 1, .asker = "ann"});
    shut_gate(false);
    await(&scene.ended, 22);
    const char *anns = strstr(scene.told.data, "2.0x1");
    CHECK(anns != NULL);
    CHECK(anns == scene.told.data + strlen("1.0x1/1 "));
    close_scene(&place, worker, NULL);
}

/* What study 1 cost is no debt of study 2, which came before ann. */
static void studies_without_an_asker_have_turns_of_their_own(void)
{
    struct db_place place;
    struct worker *worker = open_busy_scene(&place);
    worker_ask(worker,
               &(struct worker_question){.study = 3, .n = 1, .asker = "ann"});
    shut_gate(false);
    await(&scene.ended, 3);
    close_scene(&place, worker, "1.0x1/1 2.0x1/1 3.0x1/1 ");
}

int main(void)
{
    RUN(questions_have_their_turn_and_equal_ones_are_one);
    RUN(askers_alternate);
    RUN(studies_without_an_asker_have_turns_of_their_own);
    RUN(questions_of_other_texts_are_others);
    RUN(studies_asked_about_longest_ago_are_forgotten);
    RUN(a_dropped_study_is_forgotten);
    RUN(what_is_of_no_use_is_made_anew);
    RUN(an_answer_that_took_long_is_rested_for_longer);
    RUN(stopping_drops_what_waits);
    return check_done();
}
