/* What Slurm 22.05.8 printed, read. */
#include "tests/check.h"

#include "runner/slurm/listing.h"

static struct arena *arena;

/* "JOB FIRST-LAST STATE REASON NODES END; ..." */
static const char *rows_of(const char *output)
{
    struct slurm_rows rows;
    struct text out = {0};
    struct ht_error err;
    if (listing_rows(arena, output, "ht-", &rows, &err) != HT_OK)
        return arena_strdup(arena, err.text);
    for (size_t i = 0; i < rows.n; i++) {
        const struct slurm_row *row = &rows.rows[i];
        text_printf(&out, "%s%lld %d-%d %d \"%s\" \"%s\" %lld",
                    i > 0 ? "; " : "", (long long)row->job, row->first,
                    row->last, (int)row->state, row->reason, row->nodes,
                    (long long)row->end_ms);
    }
    return text_take(&out, arena);
}

static void rows_are_elements_that_wait_run_or_ended(void)
{
    CHECK(SLURM_PENDING == 0 && SLURM_RUNNING == 1 && SLURM_COMPLETED == 3 &&
          SLURM_CANCELLED == 5);
    CHECK_TEXT(rows_of("1|0|CANCELLED|1795841482|n1|None|ht-a\n"
                       "1|4|RUNNING|NONE|n1|None|ht-a\n"
                       "1|1|COMPLETED|1795841529|n[1-2]|None|ht-a\n"
                       "24|0-299|PENDING|N/A||Priority|ht-x\n"),
               "1 0-0 5 \"\" \"n1\" 1795841482000; 1 4-4 1 \"\" \"n1\" 0; "
               "1 1-1 3 \"\" \"n[1-2]\" 1795841529000; "
               "24 0-299 0 \"Priority\" \"\" 0");
}

static void an_end_that_is_only_expected_is_none(void)
{
    CHECK_TEXT(rows_of("11|0|PENDING|1827377603||Resources|ht-a\n"),
               "11 0-0 0 \"Resources\" \"\" 0");
}

static void elements_may_have_gaps_steps_and_a_limit(void)
{
    CHECK_TEXT(rows_of("1|6,8-9%5|PENDING|N/A||Resources|ht-a\n"),
               "1 6-6 0 \"Resources\" \"\" 0; 1 8-9 0 \"Resources\" \"\" 0");
    CHECK_TEXT(rows_of("10|8-12:2%5|PENDING|N/A||None|ht-a\n"),
               "10 8-8 0 \"\" \"\" 0; 10 10-10 0 \"\" \"\" 0; "
               "10 12-12 0 \"\" \"\" 0");
}

static void other_jobs_and_remainders_are_no_rows(void)
{
    CHECK_TEXT(rows_of(""), "");
    CHECK_TEXT(rows_of("1|N/A|CANCELLED|1795841493||Resources|ht-a\n"
                       "3|N/A|RUNNING|NONE|n1|None|s.sh\n"
                       "9|0-4|PENDING|N/A||None|my ht-a|x\n"),
               "");
    CHECK_TEXT(rows_of("9|7|PENDING|N/A||None|ht-a|x\n"),
               "9 7-7 0 \"\" \"\" 0");
}

static void a_heterogeneous_job_is_one_element_by_its_first_component(void)
{
    CHECK_TEXT(rows_of("7+0|N/A|RUNNING|1795841482|n1|None|ht-a\n"
                       "7+1|N/A|RUNNING|1795841482|n[2-3]|None|ht-a\n"
                       "5|N/A|RUNNING|NONE|n1|None|ht-b\n"),
               "7 -1-0 1 \"\" \"n1\" 1795841482000");
    CHECK_TEXT(listing_elements(arena, 7, SLURM_WHOLE, 0), "7");
    CHECK_TEXT(listing_elements(arena, 7, 2, 9), "7_[2-9]");
}

static void a_line_that_is_no_row_fails_the_listing(void)
{
    CHECK_TEXT(rows_of("1|0|RUNNING|NONE|n1|None|ht-a\nslurm_load_jobs\n"),
               "squeue answered with a line that is no job: "
               "\"slurm_load_jobs\"");
    CHECK_TEXT(rows_of("1|0-3,...|PENDING|N/A||None|ht-a\n"),
               "squeue answered with a line that is no job: "
               "\"1|0-3,...|PENDING|N/A||None|ht-a\"");
    CHECK_TEXT(rows_of("99999999999999999999|0|RUNNING|NONE|n1|None|ht-a\n"),
               "squeue answered with a line that is no job: "
               "\"99999999999999999999|0|RUNNING|NONE|n1|None|ht-a\"");
}

static void states_are_slurms_words(void)
{
    CHECK(listing_state("COMPLETING", "None") == SLURM_ENDING);
    CHECK(listing_state("BOOT_FAIL", "None") == SLURM_NODE_FAIL);
    CHECK(listing_state("PENDING", "JobHeldUser") == SLURM_HELD);
    CHECK(listing_state("PENDING", "Resources,JobHeldAdmin") == SLURM_HELD);
    CHECK(listing_state("RUNNING", "JobHeldUser") == SLURM_RUNNING);
    CHECK(listing_state("PENDING", "launch failed requeued held") ==
          SLURM_REQUEUED);
    CHECK(listing_state("PENDING", "launch_failed_requeued_held") ==
          SLURM_REQUEUED);
    CHECK(listing_state("OUT_OF_MEMORY", "") == SLURM_OUT_OF_MEMORY);
    CHECK(listing_state("NEVER_HEARD", "") == SLURM_UNKNOWN);
}

static void the_configuration_has_version_and_array_size(void)
{
    struct slurm_limits limits = {0};
    struct ht_error err;
    CHECK(listing_config(arena,
                         "Configuration data as of 2026-11-28T04:50:33\n"
                         "KillWait                = 30 sec\n"
                         "MaxArraySize            = 10001\n"
                         "MinJobAge               = 300 sec\n"
                         "SLURM_CONF              = /etc/slurm/slurm.conf\n"
                         "SLURM_VERSION           = 22.05.8\n",
                         &limits, &err) == HT_OK);
    CHECK_TEXT(limits.version, "22.05.8");
    CHECK(limits.most_array == 10001);
    CHECK(limits.kill_wait_ms == 30000);
    limits = (struct slurm_limits){0};
    CHECK(listing_config(arena, "x = 1\n", &limits, &err) == HT_UNAVAILABLE);
}

static void partitions_have_limits(void)
{
    struct slurm_limits limits = {0};
    listing_partitions(
        arena,
        "PartitionName=main AllowGroups=ALL Default=YES QoS=N/A "
        "DefaultTime=NONE DisableRootJobs=NO MaxTime=UNLIMITED MinNodes=0 "
        "State=UP TotalCPUs=4\n"
        "PartitionName=short AllowGroups=ALL Default=NO QoS=N/A "
        "DefaultTime=00:01:00 MaxTime=1-02:00:00 State=DRAIN\n",
        &limits);
    CHECK(limits.n_partitions == 2);
    const struct slurm_partition *one = limits.partitions;
    CHECK_TEXT(one[0].name, "main");
    CHECK(one[0].is_default && one[0].is_up);
    CHECK(one[0].default_ms == 0 && one[0].most_ms == 0);
    CHECK_TEXT(one[1].name, "short");
    CHECK(!one[1].is_default && !one[1].is_up);
    CHECK(one[1].default_ms == 60000 && one[1].most_ms == 26 * 3600000LL);
}

static void reservations_have_names(void)
{
    struct slurm_limits limits = {0};
    listing_reservations(arena, "No reservations in the system\n", &limits);
    CHECK(limits.n_reservations == 0);
    listing_reservations(arena,
                         "ReservationName=upkeep StartTime=2026-12-01T00:00:00 "
                         "EndTime=2026-12-01T02:00:00 Nodes=n[1-2]\n",
                         &limits);
    CHECK(limits.n_reservations == 1);
    CHECK_TEXT(limits.reservations[0], "upkeep");
}

static void words_are_without_the_programs_name(void)
{
    CHECK_TEXT(
        listing_words(
            arena,
            "sbatch: error: invalid partition specified: nope\n"
            "sbatch: error: Batch job submission failed: Invalid partition "
            "name specified\n"),
        "invalid partition specified: nope; Batch job submission failed: "
        "Invalid partition name specified");
    CHECK_TEXT(listing_words(arena, "sbatch: Job 4 to start\n"),
               "Job 4 to start");
    CHECK_TEXT(listing_words(arena, "no colon\n"), "no colon");
    CHECK_TEXT(listing_words(arena, ""), "");
}

/* Each as sbatch 22.05.8 printed it. */
static void only_words_of_sbatch_about_the_job_are_a_refusal(void)
{
    static const char *const refusals[] = {
        "sbatch: error: invalid partition specified: nope\n"
        "sbatch: error: Batch job submission failed: Invalid partition name "
        "specified\n",
        "sbatch: unrecognized option '--nope'\n"
        "Try \"sbatch --help\" for more information\n",
        "sbatch: error: This does not look like a batch script.\n",
        "sbatch: error: use the partition gpu\n"
        "sbatch: error: Batch job submission failed: Unspecified error\n",
    };
    static const char *const others[] = {
        "",
        "sh: 1: sbatch: not found\n",
        "Killed\n",
        "bash: line 1: 4711 Killed sbatch --parsable\n",
        "sbatch: error: Batch job submission failed: Unspecified error\n",
        "sbatch: error: Batch job submission failed: Unable to contact slurm "
        "controller (connect failure)\n",
        "sbatch: error: Batch job submission failed: Socket timed out on "
        "send/recv operation\n",
        "sbatch: error: Batch job submission failed: Zero Bytes were "
        "transmitted or received\n",
        "sbatch: error: Batch job submission failed: Slurm backup controller "
        "in standby mode\n",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and "
        "retrying\n",
        "sbatch: error: If munged is up, restart with --num-threads=10\n"
        "sbatch: error: Munge encode failed: Failed to access \"/s\": No such "
        "file or directory\n"
        "sbatch: error: Batch job submission failed: Protocol authentication "
        "error\n",
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        CHECK_TEXT(listing_is_refusal(refusals[i]) ? "" : refusals[i], "");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_TEXT(listing_is_refusal(others[i]) ? others[i] : "", "");
    CHECK(!listing_is_refusal(others[0]));
}

int main(void)
{
    arena = arena_new();
    RUN(rows_are_elements_that_wait_run_or_ended);
    RUN(an_end_that_is_only_expected_is_none);
    RUN(elements_may_have_gaps_steps_and_a_limit);
    RUN(other_jobs_and_remainders_are_no_rows);
    RUN(a_heterogeneous_job_is_one_element_by_its_first_component);
    RUN(a_line_that_is_no_row_fails_the_listing);
    RUN(states_are_slurms_words);
    RUN(the_configuration_has_version_and_array_size);
    RUN(partitions_have_limits);
    RUN(reservations_have_names);
    RUN(words_are_without_the_programs_name);
    RUN(only_words_of_sbatch_about_the_job_are_a_refusal);
    arena_free(arena);
    return check_done();
}
