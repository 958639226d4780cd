/* Numbers, choices and pages in the query of a request. */
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/query.h"

struct asked { /* a request with a query of one or two members */
    struct request *req;
    struct pair members[2];
    struct ht_error err;
};

static void ask(struct asked *asked, const char *name, const char *value)
{
    *asked = (struct asked){.req = request_new(), .members = {{name, value}}};
    asked->req->pattern = "/v1/studies";
    asked->req->query = (struct pairs){name != NULL, asked->members};
}

static void ask_more(struct asked *asked, const char *name, const char *value)
{
    asked->members[asked->req->query.n++] = (struct pair){name, value};
}

/* The first violation, whose field it has to be. */
static const char *fault_of(const struct asked *asked, const char *field)
{
    const struct diag *diag = asked->req->diag;
    if (diag == NULL || diag->first == NULL)
        return "";
    CHECK_TEXT(diag->first->path, field);
    return diag->first->text;
}

static void a_number_is_read_within_its_range(void)
{
    static const struct number_range range = {-3, 40, 7};
    static const struct {
        const char *text;
        int64_t want;
    } good[] = {{NULL, 7}, {"40", 40}, {"-3", -3}, {"0", 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct asked asked;
        int64_t value = 99;
        ask(&asked, good[i].text != NULL ? "after" : NULL, good[i].text);
        CHECK(query_number(asked.req, "after", &range, &value, &asked.err) ==
              HT_OK);
        CHECK(value == good[i].want);
        request_free(asked.req);
    }
}

static void what_is_no_such_number_is_a_violation(void)
{
    static const struct number_range range = {-3, 40, 7};
    static const char *const bad[] = {"",   "41", "-4",
                                      "1x", "x",  "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct asked asked;
        int64_t value = 99;
        ask(&asked, "after", bad[i]);
        CHECK(query_number(asked.req, "after", &range, &value, &asked.err) ==
              HT_INVALID);
        CHECK(value == 99);
        CHECK(strstr(fault_of(&asked, "after"), "no number from -3 to 40") !=
              NULL);
        request_free(asked.req);
    }
}

static void a_choice_is_one_of_its_words(void)
{
    static const char *const choices[] = {"name", "age", NULL};
    struct asked asked;
    size_t choice = 9;
    ask(&asked, NULL, NULL);
    CHECK(query_choice(asked.req, "by", choices, &choice, NULL) == HT_OK);
    CHECK(choice == 0);
    request_free(asked.req);
    ask(&asked, "by", "age");
    CHECK(query_choice(asked.req, "by", choices, &choice, NULL) == HT_OK);
    CHECK(choice == 1);
    request_free(asked.req);
    ask(&asked, "by", "Age");
    CHECK(query_choice(asked.req, "by", choices, &choice, &asked.err) ==
          HT_INVALID);
    CHECK(choice == 1);
    CHECK_TEXT(fault_of(&asked, "by"), "\"Age\" is none of name age");
    request_free(asked.req);
}

static void a_flag_is_true_or_false(void)
{
    struct asked asked;
    bool flag = true;
    ask(&asked, NULL, NULL);
    CHECK(query_flag(asked.req, "within", &flag, NULL) == HT_OK && !flag);
    request_free(asked.req);
    ask(&asked, "within", "true");
    CHECK(query_flag(asked.req, "within", &flag, NULL) == HT_OK && flag);
    request_free(asked.req);
    ask(&asked, "within", "1");
    CHECK(query_flag(asked.req, "within", &flag, &asked.err) == HT_INVALID);
    CHECK(flag);
    CHECK_TEXT(fault_of(&asked, "within"), "\"1\" is none of false true");
    request_free(asked.req);
}

static size_t size_of(const char *text, size_t page_most)
{
    static const struct query_page_sizes sizes = {20, 50};
    struct asked asked;
    struct query_page page = {0};
    ask(&asked, text != NULL ? "pageSize" : NULL, text);
    asked.req->page_most = page_most;
    CHECK(query_page_sized(asked.req, &sizes, &page, &asked.err) == HT_OK);
    CHECK(page.token == 0);
    request_free(asked.req);
    return page.size;
}

static void a_page_has_its_usual_size_and_never_more_than_the_most(void)
{
    CHECK(size_of(NULL, 0) == 20);
    CHECK(size_of("0", 0) == 20);
    CHECK(size_of("1", 0) == 1);
    CHECK(size_of("50", 0) == 50);
    CHECK(size_of("51", 0) == 50);
    CHECK(size_of("2147483647", 0) == 50);
    CHECK(size_of("30", 10) == 10); /* of the server */
    CHECK(size_of("5", 10) == 5);
}

static void a_negative_size_is_refused(void)
{
    struct asked asked;
    struct query_page page = {.size = 3};
    ask(&asked, "pageSize", "-1");
    CHECK(query_page(asked.req, &page, &asked.err) == HT_INVALID);
    CHECK(page.size == 3);
    CHECK(*fault_of(&asked, "pageSize") != '\0');
    request_free(asked.req);
}

/* The token of element 57; owned by the caller. */
static char *token_of(struct asked *asked)
{
    static const char begin[] = "],\"nextPageToken\":\"";
    query_page_end(asked->req, 57);
    char *text = strdup(asked->req->reply.data);
    text_clear(&asked->req->reply);
    CHECK(strncmp(text, begin, strlen(begin)) == 0);
    memmove(text, text + strlen(begin), strlen(text + strlen(begin)) + 1);
    CHECK(strcmp(strchr(text, '\0') - 2, "\"}") == 0);
    *strchr(text, '"') = '\0';
    return text;
}

static void a_token_leads_to_the_next_page_of_its_list(void)
{
    struct asked asked;
    struct query_page page;
    ask(&asked, "filter", "state=ACTIVE");
    asked.req->study = "digits";
    char *token = token_of(&asked);
    ask_more(&asked, "pageToken", token);
    CHECK(query_page(asked.req, &page, &asked.err) == HT_OK);
    CHECK(page.token == 57 && page.size == PAGE_DEFAULT);
    free(token);
    request_free(asked.req);
}

static void a_token_of_another_list_or_filter_is_refused(void)
{
    for (int other = 0; other < 5; other++) {
        struct asked asked;
        struct query_page page = {.token = 3};
        ask(&asked, "filter", "state=ACTIVE");
        asked.req->study = "digits";
        char *token = token_of(&asked);
        ask_more(&asked, "pageToken", token);
        if (other == 0)
            asked.members[0].value = "state=FAILED";
        else if (other == 1)
            asked.req->pattern = "/v1/trials";
        else if (other == 2)
            asked.req->study = "digest";
        else if (other == 3)
            asked.req->scope.project = "lab";
        else
            token[strlen(token) - 1] ^= 1;
        CHECK(query_page(asked.req, &page, &asked.err) == HT_INVALID);
        CHECK(page.token == 3);
        CHECK(strstr(fault_of(&asked, "pageToken"), "none of this list") !=
              NULL);
        free(token);
        request_free(asked.req);
    }
}

static void the_last_page_has_no_token(void)
{
    struct asked asked;
    ask(&asked, NULL, NULL);
    query_page_end(asked.req, 0);
    CHECK_TEXT(asked.req->reply.data, "]}");
    request_free(asked.req);
}

static void a_violation_says_its_name_once(void)
{
    struct asked asked;
    struct ht_error why = {0};
    ask(&asked, NULL, NULL);
    faults_add(asked.req, "filter", HT_OK, &why);
    CHECK(asked.req->diag == NULL);
    const enum ht_status status = ht_fail(&why, HT_INVALID, "filter: no value");
    faults_add(asked.req, "filter", status, &why);
    CHECK_TEXT(fault_of(&asked, "filter"), "no value");
    request_free(asked.req);
}

int main(void)
{
    RUN(a_number_is_read_within_its_range);
    RUN(what_is_no_such_number_is_a_violation);
    RUN(a_choice_is_one_of_its_words);
    RUN(a_flag_is_true_or_false);
    RUN(a_page_has_its_usual_size_and_never_more_than_the_most);
    RUN(a_negative_size_is_refused);
    RUN(a_token_leads_to_the_next_page_of_its_list);
    RUN(a_token_of_another_list_or_filter_is_refused);
    RUN(the_last_page_has_no_token);
    RUN(a_violation_says_its_name_once);
    return check_done();
}
