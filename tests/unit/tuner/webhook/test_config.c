/* The admin's file: what it says, where it is wrong, when it is in force. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/base/webhook_board.h"
#include "tuner/webhook/config.h"

static struct arena *arena;
static char folder[] = "/tmp/ht-webhooks-XXXXXX";

static const char *path_of(const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name);
}

static void write_file(const char *name, mode_t mode, const char *text)
{
    unlink(path_of(name));
    FILE *file = fopen(path_of(name), "w");
    CHECK(file != NULL && fputs(text, file) >= 0);
    if (file != NULL)
        fclose(file);
    CHECK(chmod(path_of(name), mode) == 0);
}

/* The first webhook of the text; NULL, and why in err. */
static const struct webhook *read_first(const char *text, struct ht_error *err)
{
    struct webhook_rules rules = {0};
    if (webhook_rules_read(arena, folder, text, &rules, err) != HT_OK)
        return NULL;
    return rules.items;
}

static const struct webhook *first(const char *text)
{
    struct ht_error err = {0};
    const struct webhook *read = read_first(text, &err);
    CHECK_TEXT(err.text, "");
    return read;
}

#define URL "\"url\":\"https://a.example/x\","
#define ENDED "\"on\":[\"study.ended\"]"

static void the_file_says_which_events_are_sent_where(void)
{
    const struct notify silent = {0};
    const struct webhook *one =
        first("[{" URL "\"studies\":\"dig*\","
              "\"on\":[\"study.ended\",\"best.improved\"]}]");
    CHECK_TEXT(one->name, "a.example");
    CHECK(one->secret == NULL && !one->local && !one->named);
    CHECK(webhook_wants(one, &silent, NOTIFY_STUDY_ENDED, "digits"));
    CHECK(webhook_wants(one, &silent, NOTIFY_BEST_IMPROVED, "digits"));
    CHECK(!webhook_wants(one, &silent, NOTIFY_TRIAL_ENDED, "digits"));
    CHECK(!webhook_wants(one, &silent, NOTIFY_STUDY_ENDED, "other"));
}

static void a_spec_narrows_what_the_admin_allows(void)
{
    struct notify_item items[] = {
        {"chat", 1U << NOTIFY_STUDY_ENDED | 1U << NOTIFY_TRIAL_ENDED}};
    const struct notify named = {true, 1, items}, nothing = {.said = true};
    const struct notify silent = {0};
    const struct webhook *chat =
        first("[{\"name\":\"chat\"," URL "\"studies\":\"dig*\",\"on\":["
              "\"study.ended\",\"study.paused\"]}]");
    CHECK(webhook_wants(chat, &named, NOTIFY_STUDY_ENDED, "digits"));
    CHECK(!webhook_wants(chat, &named, NOTIFY_STUDY_PAUSED, "digits"));
    CHECK(!webhook_wants(chat, &named, NOTIFY_TRIAL_ENDED, "digits"));
    CHECK(!webhook_wants(chat, &named, NOTIFY_STUDY_ENDED, "other"));
    CHECK(!webhook_wants(chat, &nothing, NOTIFY_STUDY_ENDED, "digits"));
    const struct webhook *other = first("[{\"name\":\"other\"," URL ENDED "}]");
    CHECK(webhook_wants(other, &silent, NOTIFY_STUDY_ENDED, "digits"));
    CHECK(!webhook_wants(other, &named, NOTIFY_STUDY_ENDED, "digits"));
    const struct webhook *shy =
        first("[{\"name\":\"chat\",\"named\":true," URL ENDED "}]");
    CHECK(!webhook_wants(shy, &silent, NOTIFY_STUDY_ENDED, "digits"));
    CHECK(webhook_wants(shy, &named, NOTIFY_STUDY_ENDED, "digits"));
}

static void what_is_wrong_is_reported_with_its_place(void)
{
    static const struct {
        const char *text, *fault;
    } wrong[] = {
        {"{}", "line 1: must be a list of at most 32 webhooks"},
        {"[1]", "line 1: [0]: must be a map, not a number"},
        {"[{" URL "\n\"name\":\"a b\"," ENDED "}]",
         "line 2: [0].name: the name \"a b\" has an illegal character; "
         "letters, digits and _ . / - are allowed"},
        {"[{\"url\":\"https://a/\"}]",
         "line 1: [0].on: is missing: a list of events"},
        {"[{" ENDED "}]", "line 1: [0].url: is missing"},
        {"[{\"url\":\"https://a/\",\"on\":[]}]",
         "line 1: [0].on: names no event"},
        {"[{" URL "\n\"on\":[\"study.end\"]}]",
         "line 2: [0].on[0]: unknown event \"study.end\"; did you mean "
         "\"study.ended\"?"},
        {"[{\"url\":\"http://a/\"," ENDED "}]",
         "line 1: [0].url: \"http://a/\" is not https (http is for a webhook "
         "with \"local\": true)"},
        {"[{\"url\":\"https://u:p@a/\"," ENDED "}]",
         "line 1: [0].url: a webhook's URL has no user and no password"},
        {"[{" URL ENDED ",\"sekret\":\"x\"}]",
         "line 1: [0].sekret: unknown field \"sekret\"; did you mean "
         "\"secret\"?"},
        {"[{" URL ENDED ",\"secret\":5}]",
         "line 1: [0].secret: must be text, not a number"},
        {"[{" URL ENDED ",\"secret\":\"\"}]", "line 1: [0].secret: is empty"},
        {"[{" URL ENDED "},\n{" URL ENDED "}]",
         "line 2: [1]: another one is called a.example, too; give each a "
         "\"name\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ht_error err = {0};
        CHECK(read_first(wrong[i].text, &err) == NULL);
        CHECK_TEXT(err.text, wrong[i].fault);
    }
}

static void check_secret(const char *member, const char *fault)
{
    struct ht_error err = {0};
    const char *text = arena_printf(arena, "[{" URL ENDED ",\n%s}]", member);
    CHECK(read_first(text, &err) == NULL);
    CHECK_TEXT(err.text, fault);
}

static void a_secret_may_stand_in_a_file_of_its_own(void)
{
    write_file("key", 0600, "the key\n");
    CHECK_TEXT(first("[{" URL ENDED ",\"secretFile\":\"key\"}]")->secret,
               "the key");
    const char *whole = arena_printf(
        arena, "[{" URL ENDED ",\"secretFile\":\"%s\"}]", path_of("key"));
    CHECK_TEXT(first(whole)->secret, "the key");
    write_file("open", 0640, "the key\n");
    write_file("empty", 0600, "\n");
    CHECK(symlink(path_of("key"), path_of("link")) == 0);
    check_secret("\"secretFile\":\"open\"",
                 "line 2: [0].secretFile: open is open to others, its mode is "
                 "640: chmod 600");
    check_secret("\"secretFile\":\"empty\"",
                 "line 2: [0].secretFile: empty is empty");
    check_secret("\"secretFile\":\"link\"",
                 "line 2: [0].secretFile: link is a link");
    check_secret("\"secretFile\":\".\"",
                 "line 2: [0].secretFile: . is no regular file");
    check_secret("\"secretFile\":\"none\"",
                 "line 2: [0].secretFile: none cannot be read: No such file or "
                 "directory");
    check_secret("\"secretFile\":\"key\", \"secret\":\"x\"",
                 "line 2: [0].secret: there is [0].secretFile already");
}

static const char *secret_of(const struct webhook_config *config)
{
    return config->rules.n == 1 ? config->rules.items[0].secret : "?";
}

static void the_file_is_in_force_until_a_good_one_takes_its_place(void)
{
    struct webhook_config config;
    webhook_config_init(&config, folder);
    CHECK(!webhook_config_look(&config) && config.rules.n == 0);
    write_file("key", 0600, "one");
    write_file("webhooks.json", 0600,
               "[{" URL ENDED ",\"secretFile\":\"key\"}]");
    CHECK(webhook_config_look(&config));
    CHECK_TEXT(secret_of(&config), "one");
    CHECK(!webhook_config_look(&config));
    write_file("key", 0600, "two"); /* as long, and within one tick */
    CHECK(webhook_config_look(&config));
    CHECK_TEXT(secret_of(&config), "two");
    write_file("webhooks.json", 0600, "[{");
    CHECK(!webhook_config_look(&config));
    CHECK_TEXT(secret_of(&config), "two");
    CHECK(config.wrong.status != HT_OK);
    write_file("webhooks.json", 0600,
               "[{" URL ENDED ",\"secretFile\":\"key\"}]");
    webhook_config_look(&config);
    CHECK(config.wrong.status == HT_OK);
    unlink(path_of("webhooks.json"));
    /* An editor may be about to write it. */
    CHECK(!webhook_config_look(&config));
    CHECK_TEXT(secret_of(&config), "two");
    CHECK(webhook_config_look(&config) && config.rules.n == 0);
    webhook_config_fini(&config);
}

/* --- what specs name --- */

static const char *complaint_of(struct webhook_board *board,
                                const struct notify *notify, bool warns)
{
    struct diag errors, warnings;
    struct text out = {0};
    const struct job job = {.name = "digits", .notify = *notify};
    diag_init(&errors, arena, "request", NULL, 0);
    diag_init(&warnings, arena, "request", NULL, 0);
    webhook_board_check(board, &job, "hypertune.", &errors, &warnings);
    const struct diag_item *one = warns ? warnings.first : errors.first;
    CHECK((warns ? errors : warnings).first == NULL);
    text_printf(&out, "%s%s%s", one != NULL ? one->path : "",
                one != NULL ? ": " : "", one != NULL ? one->text : "");
    const char *kept = arena_strdup(arena, out.data != NULL ? out.data : "");
    text_free(&out);
    return kept;
}

static void a_webhook_that_is_not_there_is_refused_with_the_nearest(void)
{
    struct webhook_row rows[] = {{.name = "chat",
                                  .studies = "nightly-*",
                                  .on = 1U << NOTIFY_STUDY_ENDED,
                                  .why = ""},
                                 {.name = "pager",
                                  .studies = "*",
                                  .on = 1U << NOTIFY_STUDY_ENDED,
                                  .why = ""}};
    struct webhook_board *board = webhook_board_new();
    struct notify_item items[] = {{"pagr", NOTIFY_ALL}, {"x", 1}};
    const struct notify one = {true, 1, items}, two = {true, 2, items};
    CHECK_TEXT(complaint_of(NULL, &one, false),
               "hypertune.notify[0]: this server has no webhook \"pagr\"; its "
               "webhooks.json names none");
    webhook_board_set(board, &(struct webhook_rows){2, rows, NULL});
    CHECK_TEXT(complaint_of(board, &one, false),
               "hypertune.notify[0]: this server has no webhook \"pagr\"; did "
               "you mean \"pager\"?");
    items[0].webhook = "pager";
    CHECK_TEXT(complaint_of(board, &one, false), "");
    CHECK_TEXT(complaint_of(board, &two, false),
               "hypertune.notify.x: this server has no webhook \"x\"; it has "
               "chat, pager");
    items[0].webhook = "chat";
    CHECK_TEXT(complaint_of(board, &one, true),
               "hypertune.notify[0]: chat is for studies called "
               "\"nightly-*\" only, not for this one");
    items[0] = (struct notify_item){"pager", 1U << NOTIFY_TRIAL_FAILED};
    CHECK_TEXT(complaint_of(board, &one, true),
               "hypertune.notify.pager: pager never sends trial.failed");
    webhook_board_free(board);
}

int main(void)
{
    json_init();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    arena = arena_new();
    if (mkdtemp(folder) == NULL)
        return 1;
    RUN(the_file_says_which_events_are_sent_where);
    RUN(a_spec_narrows_what_the_admin_allows);
    RUN(what_is_wrong_is_reported_with_its_place);
    RUN(a_secret_may_stand_in_a_file_of_its_own);
    RUN(the_file_is_in_force_until_a_good_one_takes_its_place);
    RUN(a_webhook_that_is_not_there_is_refused_with_the_nearest);
    static const char *const left[] = {"key", "open", "empty", "link"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        unlink(path_of(left[i]));
    CHECK(rmdir(folder) == 0);
    arena_free(arena);
    curl_global_cleanup();
    return check_done();
}
