/* A batch job as slurmrestd wants it, in two families of versions. */
#include "runner/slurm/rest_options.h"
#include "tests/check.h"

static struct arena *arena;
static struct ht_error err;

static const struct pair path = {"PATH", "/usr/bin:/bin"};
static const struct pairs environment = {1, &path};

static const char *body(int version, const struct slurm_option options[],
                        size_t n)
{
    const struct slurm_batch batch = {.name = "ht-7-1",
                                      .script = "#!/bin/sh\n",
                                      .folder = "/home/x",
                                      .elements = 4,
                                      .tasks = 1,
                                      .n_options = n,
                                      .options = options};
    const char *json = NULL;
    err = (struct ht_error){0};
    return rest_batch(arena, version, &batch, &environment, &json, &err) ==
                   HT_OK
               ? json
               : "refused";
}

static const struct slurm_option usual[] = {{"job-name", "ht-7-1"},
                                            {"array", "0-3"},
                                            {"chdir", "/home/x"},
                                            {"output", "/home/x/%a.out"},
                                            {"signal", "B:USR1@30"},
                                            {"no-requeue", NULL},
                                            {"exclusive", NULL},
                                            {"time", "10"},
                                            {"nodes", "2"},
                                            {"ntasks", "2"},
                                            {"mem", "100M"},
                                            {"gres", "gpu:a100:2,shard:1"},
                                            {"mail-type", "END,FAIL"},
                                            {"nodelist", "n[2-3],n5"}};
enum { N_USUAL = sizeof usual / sizeof *usual };

static void an_old_version_reads_texts_as_sbatch_does(void)
{
    CHECK_TEXT(body(38, usual, N_USUAL),
               "{\"script\":\"#!/bin/sh\\n\",\"job\":{"
               "\"environment\":{\"PATH\":\"/usr/bin:/bin\"},"
               "\"name\":\"ht-7-1\",\"array\":\"0-3\","
               "\"current_working_directory\":\"/home/x\","
               "\"standard_output\":\"/home/x/%a.out\",\"requeue\":false,"
               "\"exclusive\":\"exclusive\",\"time_limit\":\"10\","
               "\"nodes\":\"2\",\"tasks\":\"2\",\"memory_per_node\":\"100M\","
               "\"gres\":\"gpu:a100:2,shard:1\",\"mail_type\":\"END,FAIL\","
               "\"nodelist\":\"n[2-3],n5\"}}");
}

static void a_new_version_has_types(void)
{
    CHECK_TEXT(body(41, usual, N_USUAL),
               "{\"job\":{\"script\":\"#!/bin/sh\\n\","
               "\"environment\":[\"PATH=/usr/bin:/bin\"],"
               "\"name\":\"ht-7-1\",\"array\":\"0-3\","
               "\"current_working_directory\":\"/home/x\","
               "\"standard_output\":\"/home/x/%a.out\","
               "\"kill_warning_signal\":\"USR1\","
               "\"kill_warning_delay\":{\"set\":true,\"number\":30},"
               "\"kill_warning_flags\":[\"BATCH_JOB\"],\"requeue\":false,"
               "\"shared\":[\"none\"],"
               "\"time_limit\":{\"set\":true,\"number\":10},"
               "\"nodes\":\"2\",\"tasks\":2,"
               "\"memory_per_node\":{\"set\":true,\"number\":100},"
               "\"tres_per_node\":\"gres/gpu:a100:2,gres/shard:1\","
               "\"mail_type\":[\"END\",\"FAIL\"],"
               "\"required_nodes\":[\"n[2-3],n5\"]}}");
}

/* The script is the first one's. */
static void a_heterogeneous_job_is_a_list_of_jobs(void)
{
    static const struct slurm_option one = {"ntasks", "1"};
    static const struct slurm_option two = {"ntasks", "2"};
    static const struct slurm_options other = {1, &two};
    const struct slurm_batch batch = {.script = "#!/bin/sh\n",
                                      .n_options = 1,
                                      .options = &one,
                                      .n_others = 1,
                                      .others = &other};
    const char *json = NULL;
    CHECK(rest_batch(arena, 38, &batch, &environment, &json, &err) == HT_OK);
    CHECK_TEXT(json, "{\"script\":\"#!/bin/sh\\n\",\"jobs\":[{"
                     "\"environment\":{\"PATH\":\"/usr/bin:/bin\"},"
                     "\"tasks\":\"1\"},{"
                     "\"environment\":{\"PATH\":\"/usr/bin:/bin\"},"
                     "\"tasks\":\"2\"}]}");
    CHECK(rest_batch(arena, 42, &batch, &environment, &json, &err) == HT_OK);
    CHECK_TEXT(json, "{\"jobs\":[{\"script\":\"#!/bin/sh\\n\","
                     "\"environment\":[\"PATH=/usr/bin:/bin\"],"
                     "\"tasks\":1},{"
                     "\"environment\":[\"PATH=/usr/bin:/bin\"],"
                     "\"tasks\":2}]}");
}

static void an_option_without_a_field_is_refused(void)
{
    const struct slurm_option none = {"get-user-env", NULL};
    const struct slurm_option exclude = {"exclude", "n2"};
    CHECK_TEXT(body(41, &none, 1), "refused");
    CHECK(err.status == HT_PRECONDITION);
    CHECK_TEXT(err.text,
               "slurmrestd v0.0.41 has no field for --get-user-env: leave it "
               "out, or let the runner use the commands of Slurm");
    CHECK_TEXT(body(38, &exclude, 1), "refused");
    CHECK(strstr(body(40, &exclude, 1), "\"excluded_nodes\":[\"n2\"]"));
}

static void a_value_of_another_form_is_refused(void)
{
    static const struct slurm_option wrong[] = {
        {"time", "1:00:00"}, {"time", NULL},   {"mem", "1.5G"},
        {"mem", "4X"},       {"mem", "1GB"},   {"ntasks", "two"},
        {"hold", "yes"},     {"mem", "G"},     {"nice", ""},
        {"comment", NULL},   {"signal", "10"}, {"gpus", NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_TEXT(body(42, &wrong[i], 1), "refused");
}

static void memory_is_in_mebibytes(void)
{
    static const struct {
        const char *text, *json;
    } sizes[] = {{"7", "7"},     {"7M", "7"},       {"1025K", "2"},
                 {"2G", "2048"}, {"1T", "1048576"}, {"0", "0"},
                 {"3000K", "3"}, {"64G", "65536"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct slurm_option option = {"mem", sizes[i].text};
        CHECK(strstr(body(42, &option, 1),
                     arena_printf(arena, "{\"set\":true,\"number\":%s}",
                                  sizes[i].json)) != NULL);
    }
}

int main(void)
{
    arena = arena_new();
    RUN(an_old_version_reads_texts_as_sbatch_does);
    RUN(a_new_version_has_types);
    RUN(a_heterogeneous_job_is_a_list_of_jobs);
    RUN(an_option_without_a_field_is_refused);
    RUN(a_value_of_another_form_is_refused);
    RUN(memory_is_in_mebibytes);
    arena_free(arena);
    return check_done();
}
