/* Which GPUs a runner gives away. */
#include "tests/check.h"

#include "runner/base/disk.h"
#include "runner/base/gpus.h"
#include "tests/lib/runner_fixture.h"

static struct arena *arena;
static struct ht_error err;

/* The names with commas, or NULL when the option is refused. */
static const char *find(const char *option, const char *visible,
                        const char *devices)
{
    const struct gpus_source source = {option, visible, devices};
    struct strings gpus;
    err.text[0] = '\0';
    if (gpus_find(arena, &source, &gpus, &err) != HT_OK)
        return NULL;
    return gpus_text(arena, &gpus);
}

static const char none[] = "/nowhere";

static void without_an_option_the_visible_ones_are_taken(void)
{
    CHECK_TEXT(find(NULL, "2,GPU-8c1f", none), "2,GPU-8c1f");
    CHECK_TEXT(find("all", "2,3", none), "2,3");
    CHECK_TEXT(find(NULL, "", none), "");
    CHECK_TEXT(find(NULL, "1,-1,2", none), "1"); /* as CUDA reads it */
    CHECK_TEXT(find(NULL, NULL, none), "");
}

static void devices_are_counted_where_nothing_is_said(void)
{
    char folder[PATH_MAX];
    runner_fixture_folder(folder);
    static const char *const names[] = {"nvidia0", "nvidia1", "nvidiactl",
                                        "nvidia-uvm", "null"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(disk_mark(folder, names[i], NULL) == HT_OK);
    CHECK_TEXT(find(NULL, NULL, folder), "0,1");
    CHECK_TEXT(find("1", NULL, folder), "0");
    CHECK_TEXT(find("none", NULL, folder), "");
    CHECK_TEXT(find("0", NULL, folder), "");
}

static void a_number_takes_the_first_of_them(void)
{
    CHECK_TEXT(find("1", "5,6", none), "5");
    CHECK(find("3", "5,6", none) == NULL);
    CHECK_TEXT(err.text, "--gpus 3: CUDA_VISIBLE_DEVICES shows 2");
    CHECK_TEXT(find("2", NULL, none), "0,1"); /* the option decides */
}

static void a_list_is_used_as_it_is(void)
{
    CHECK_TEXT(find("1,3", NULL, none), "1,3");
    CHECK_TEXT(find("3,", NULL, none), "3");
    static const char *const wrong[] = {"x", "0,0", "0,,1", ",", "-1", "a b,"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(find(wrong[i], NULL, none) == NULL);
        CHECK(strstr(err.text, "--gpus: \"") == err.text);
    }
}

int main(void)
{
    runner_fixture_init();
    arena = arena_new();
    RUN(without_an_option_the_visible_ones_are_taken);
    RUN(devices_are_counted_where_nothing_is_said);
    RUN(a_number_takes_the_first_of_them);
    RUN(a_list_is_used_as_it_is);
    arena_free(arena);
    runner_fixture_fini();
    return check_done();
}
