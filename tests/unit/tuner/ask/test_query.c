#include "tuner/ask/query.h"

#include "tests/check.h"
#include "tuner/ask/field_name.h"

static struct request *req;
static enum ht_status status;

/* The pairs, ended by a name that is NULL, taken by a route of such names. */
static void take(const char *takes, const struct pair said[])
{
    struct pairs pairs = {.items = said};
    while (said[pairs.n].name != NULL)
        pairs.n++;
    request_free(req);
    req = request_new();
    status = query_take(req, takes, &pairs, NULL);
}

static void names_of_the_route_are_taken_in_both_spellings(void)
{
    take("filter pageSize pageToken", (const struct pair[]){{"page_size", "2"},
                                                            {"pageToken", ""},
                                                            {NULL, NULL}});
    CHECK(status == HT_OK && req->query.n == 2);
    CHECK_TEXT(request_query(req, "pageSize"), "2");
    CHECK_TEXT(request_query(req, "pageToken"), "");
    CHECK(request_query(req, "filter") == NULL);
}

static void every_other_name_is_told(void)
{
    take("filter pageSize pageToken", (const struct pair[]){{"pagesize", "2"},
                                                            {"page", "3"},
                                                            {"", ""},
                                                            {"pageTokenX", "4"},
                                                            {"filter", "a"},
                                                            {NULL, NULL}});
    CHECK(status == HT_INVALID && req->diag->errors == 4);
    CHECK_TEXT(req->diag->first->path, "pagesize");
    CHECK_TEXT(req->diag->first->text,
               "is unknown: this method takes filter pageSize pageToken");
    take(NULL, (const struct pair[]){{"filter", "a"}, {NULL, NULL}});
    CHECK(status == HT_INVALID);
    CHECK_TEXT(req->diag->first->text,
               "is unknown: this method takes nothing in the query");
}

static void a_name_is_said_once(void)
{
    take("filter pageSize", (const struct pair[]){{"pageSize", "2"},
                                                  {"page_size", "2"},
                                                  {NULL, NULL}});
    CHECK(status == HT_INVALID && req->diag->errors == 1);
    CHECK_TEXT(req->diag->first->path, "pageSize");
}

static void parameters_of_all_methods_pass_without_effect(void)
{
    take("view", (const struct pair[]){{"alt", "json"},
                                       {"$alt", "json;enum-encoding=int"},
                                       {"$.xgafv", "2"},
                                       {"prettyPrint", "false"},
                                       {"key", "k"},
                                       {"fields", "name"},
                                       {"alt", "json"},
                                       {NULL, NULL}});
    CHECK(status == HT_OK && req->query.n == 0);
}

static void a_route_that_looks_at_nothing_takes_anything(void)
{
    take(QUERY_ANYTHING, (const struct pair[]){{"utm_source", "a"},
                                               {"utm_source", "b"},
                                               {NULL, NULL}});
    CHECK(status == HT_OK && req->query.n == 0);
}

static void a_camel_case_name_is_found_in_snake_case(void)
{
    CHECK(field_name_match("display_name=a", "displayName") == 12);
    CHECK(field_name_match("displayName.x", "displayName") == 11);
    CHECK(field_name_match("display_names", "displayName") == 0);
    CHECK(field_name_match("displayName2", "displayName") == 0);
    CHECK(field_name_match("display__name", "displayName") == 0);
    CHECK(field_name_match("Display_name", "displayName") == 0);
    CHECK(field_name_match("state_", "state") == 0);
    CHECK(field_name_is("page_size,", 9, "pageSize pageToken", 8));
    CHECK(field_name_is("pageSize", 8, "pageSize", 8));
    CHECK(!field_name_is("page_size", 8, "pageSize", 8));
    CHECK(!field_name_is("page_sizes", 10, "pageSize", 8));
    CHECK(!field_name_is("", 0, "pageSize", 8));
}

int main(void)
{
    RUN(names_of_the_route_are_taken_in_both_spellings);
    RUN(every_other_name_is_told);
    RUN(a_name_is_said_once);
    RUN(parameters_of_all_methods_pass_without_effect);
    RUN(a_route_that_looks_at_nothing_takes_anything);
    RUN(a_camel_case_name_is_found_in_snake_case);
    request_free(req);
    return check_done();
}
