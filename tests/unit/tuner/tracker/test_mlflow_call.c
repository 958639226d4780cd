/* What MLflow takes as a name, and which addresses may be asked. */
#include "tests/check.h"
#include "tuner/tracker/mlflow_call.h"

static struct arena *arena;

static void names_become_what_mlflow_takes(void)
{
    static const char *const names[][2] = {
        {"val/loss.1 - a:b_c", "val/loss.1 - a:b_c"},
        {"loss@1", "loss_x40_1"},
        {"a//b", "a_x2F__x2F_b"},
        {"/a", "_x2F_a"},
        {"a/", "a_x2F_"},
        {"a/../b", "a_x2F__x2E__x2E__x2F_b"},
        {".", "_x2E_"},
        {"..", "_x2E__x2E_"},
        {"...", "..."},
        {"\xc3\xa9", "_xC3__xA9_"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_TEXT(mlflow_name(arena, names[i][0]), names[i][1]);
}

static void only_addresses_of_the_web_are_taken(void)
{
    struct ht_error err;
    CHECK(mlflow_url_check("http://10.0.0.1:5000", &err) == HT_OK);
    CHECK(mlflow_url_check("https://m.example.org/x", &err) == HT_OK);
    CHECK(mlflow_url_check("file:///etc", &err) == HT_INVALID);
    CHECK(mlflow_url_check("https://a:b@m.example.org", &err) == HT_INVALID);
    CHECK(strstr(err.text, "a:b") == NULL);
    CHECK(mlflow_url_check("./mlruns", &err) == HT_INVALID);
}

int main(void)
{
    arena = arena_new();
    RUN(names_become_what_mlflow_takes);
    RUN(only_addresses_of_the_web_are_taken);
    arena_free(arena);
    return check_done();
}
