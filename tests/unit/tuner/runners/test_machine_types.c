/* Machine types: Google's, and an admin's own. */
#include "tuner/runners/machine_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/check.h"

#define GIB (1024.0 * 1024 * 1024)

static char folder[64];
static int64_t now_ms;

static void write_file(const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/machines.json", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(text, file);
    CHECK(fclose(file) == 0);
    now_ms += 2000;
}

static void remove_file(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/machines.json", folder);
    CHECK(unlink(path) == 0);
    now_ms += 2000;
}

static bool find(struct machine_types *machines, const char *name,
                 struct machine_type *machine)
{
    machine_types_refresh(machines, now_ms);
    return machine_types_find(machines, name, machine);
}

static void googles_types_are_known(void)
{
    static const struct {
        const char *name;
        double cpus, gib;
        int gpus;
    } types[] = {
        {"n1-standard-4", 4, 15, 0},
        {"n1-highmem-16", 16, 104, 0},
        {"n1-highcpu-96", 96, 86.4, 0},
        {"e2-standard-4", 4, 16, 0},
        {"n2-standard-80", 80, 320, 0},
        {"c2-standard-30", 30, 120, 0},
        {"a2-highgpu-8g", 96, 680, 8},
        {"g2-standard-24", 24, 96, 2},
        {"standard", 4, 15, 0},
        {"complex_model_m", 16, 14.4, 0},
        {"complex_model_m_gpu", 16, 60, 4},
        {"large_model", 8, 52, 0},
    };
    struct machine_types *machines = machine_types_new(folder);
    struct machine_type machine;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        CHECK(find(machines, types[i].name, &machine));
        CHECK(machine.cpus == types[i].cpus && machine.gpus == types[i].gpus);
        CHECK(machine.memory == (int64_t)(types[i].gib * GIB));
    }
    const char *const unknown[] = {"",
                                   "n1-standard-",
                                   "n1-standard-3",
                                   "n1-standard-4x",
                                   "n1-standard-04",
                                   "standard-4"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        CHECK(!find(machines, unknown[i], &machine));
    machine_types_free(machines);
}

static void the_admins_file_wins_and_is_read_again(void)
{
    struct machine_types *machines = machine_types_new(folder);
    struct machine_type machine;
    write_file("{\"n1-standard-4\": {\"cpus\": 2, \"memory\": \"8Gi\"},"
               " \"office\": {\"cpus\": 1.5, \"gpus\": 1}}");
    CHECK(find(machines, "n1-standard-4", &machine));
    CHECK(machine.cpus == 2 && machine.memory == (int64_t)(8 * GIB));
    CHECK(find(machines, "office", &machine));
    CHECK(machine.cpus == 1.5 && machine.memory == 0 && machine.gpus == 1);
    write_file("{\"office\": {\"memory\": 1000}}");
    CHECK(find(machines, "office", &machine) && machine.memory == 1000);
    CHECK(find(machines, "n1-standard-4", &machine) && machine.cpus == 4);
    remove_file();
    CHECK(!find(machines, "office", &machine));
    machine_types_free(machines);
}

static void a_wrong_file_changes_nothing(void)
{
    static const char *const wrong[] = {
        "{\"office\": {\"cpus\": -1}}",
        "{\"office\": {\"cores\": 1}}",
        "{\"office\": {\"memory\": \"8 GB\"}}",
        "{\"office\": 4}",
        "[]",
        "{",
        "{\"office\": {\"gpus\": 1.5}}",
    };
    struct machine_types *machines = machine_types_new(folder);
    struct machine_type machine;
    write_file("{\"office\": {\"cpus\": 7}}");
    CHECK(find(machines, "office", &machine));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file(wrong[i]);
        CHECK(find(machines, "office", &machine) && machine.cpus == 7);
    }
    remove_file();
    machine_types_free(machines);
}

static void what_a_job_says_wins_over_its_machine(void)
{
    struct machine_types *machines = machine_types_new(folder);
    const struct job job = {.memory_bytes = 5};
    struct pool pool = {.machine = "a2-highgpu-2g", .cpus = 3};
    struct machine_type needs = machine_types_needs(machines, &job, &pool);
    CHECK(needs.cpus == 3 && needs.memory == 5 && needs.gpus == 2);
    pool = (struct pool){
        .machine = "complex_model_m_gpu", .gpus = 1, .accelerator = "K80"};
    needs = machine_types_needs(machines, &job, &pool);
    CHECK(needs.cpus == 16 && needs.memory == 5 && needs.gpus == 1);
    pool = (struct pool){.machine = "nothing"};
    needs = machine_types_needs(machines, &job, &pool);
    CHECK(needs.cpus == 0 && needs.memory == 5 && needs.gpus == 0);
    machine_types_free(machines);
}

int main(void)
{
    const char *root = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/ht-machines-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(folder) != NULL);
    RUN(googles_types_are_known);
    RUN(the_admins_file_wins_and_is_read_again);
    RUN(a_wrong_file_changes_nothing);
    RUN(what_a_job_says_wins_over_its_machine);
    CHECK(rmdir(folder) == 0);
    return check_done();
}
