#include "proto/job/slurm_section.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/job/command.h"
#include "proto/job/draft.h"
#include "proto/job/run_on.h"

enum { MOST_MODULES = 64, MOST_OPTIONS = 64 };

#define SLURM(member) offsetof(struct job_slurm, member)

/* ---- texts ---- */

/* A line's end would end the line of the script. */
static const char *text_fault(const char *word)
{
    const size_t len = strlen(word);
    if (len == 0 || len > HT_MAX_LABEL)
        return "is longer than 1024 bytes";
    for (const char *c = word; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return "has a control character";
    return NULL;
}

static void read_modules(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    struct strings modules;
    const size_t before = reader->diag->errors;
    if (!field_read_texts(reader, at, (size_t)field->max, false, &modules))
        return;
    for (const struct place *item = field_items(reader, at); item->node;
         item++) {
        const char *name = item->node->text;
        if (text_fault(name) != NULL || strchr(name, ' ') != NULL)
            field_error(reader, *item, "is no module, such as cuda/12.1");
    }
    if (reader->diag->errors == before)
        *(struct strings *)into = modules;
}

/* ---- the way to run images ---- */

static const char *template_fault(const struct strings *words)
{
    bool image = false, command = false;
    for (size_t i = 0; i < words->n; i++) {
        image |= strstr(words->items[i], "{image}") != NULL;
        command |= i > 0 && strcmp(words->items[i], "{command}") == 0;
    }
    if (!image)
        return "has no {image}";
    return command ? NULL : "has no {command} as a word behind the program";
}

static bool is_known_way(const char *text)
{
    static const char *const ways[] = {"pyxis", "apptainer", "charliecloud",
                                       "podman"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(text, ways[i]) == 0)
            return true;
    return false;
}

static void read_container(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    (void)field;
    const char *text = node_string(at.node);
    struct strings words;
    struct ht_error err;
    if (text == NULL) {
        field_wrong_kind(reader, at, "text");
        return;
    }
    const char *fault = text_fault(text);
    if (fault == NULL && !is_known_way(text)) {
        fault = command_split(reader->arena, text, &words, &err) == HT_OK
                    ? template_fault(&words)
                    : err.text;
    }
    if (fault == NULL) {
        *(const char **)into = text;
        return;
    }
    field_error(reader, at, "\"%.*s\" %s", HT_MAX_NAME, text, fault);
    diag_hint(reader->diag, "write pyxis, apptainer, charliecloud, podman, or "
                            "a command such as \"ch-run {image} -- "
                            "{command}\"");
}

/* ---- time ---- */

static bool is_time(const char *text, int64_t *ms)
{
    if (strpbrk(text, ":-") == NULL)
        return clock_read_duration(text, ms);
    *ms = slurm_time_ms(text);
    return *ms > 0;
}

/* A number without a unit means minutes to sbatch and seconds elsewhere here.
 */
static void read_time(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    const char *text = at.node->text;
    int64_t ms;
    if (at.node->kind != NODE_STRING && at.node->kind != NODE_NUMBER) {
        field_wrong_kind(reader, at, "a time");
        return;
    }
    if (text[strspn(text, "0123456789.")] == '\0') {
        field_error(reader, at, "\"%s\" has no unit", text);
    } else if (is_time(text, &ms) && ms >= field->min && ms <= field->max) {
        *(int64_t *)into = ms;
        return;
    } else {
        field_error(reader, at, "\"%.64s\" is no time up to a year", text);
    }
    diag_hint(reader->diag, "write 90m, 12h, or as sbatch has it: 1-12:00:00");
}

/* ---- options of sbatch ---- */

static const struct {
    const char *name, *why;
} ours[] = {
    {"array", "parallel says how many elements there are"},
    {"output", "what a node prints is kept with its batch"},
    {"error", "what a node prints is kept with its batch"},
    {"signal", "grace says how long before the limit a trial is stopped"},
    {"job-name", "by it the job is found again"},
    {"chdir", "the script runs in the folder of its batch; see workdir"},
    {"requeue", "retries says how often a trial starts again"},
    {"parsable", "it is sbatch's answer to the runner"},
    {"test-only", "nothing would be submitted"},
    {"wait", "sbatch would answer at the end of the job only"},
    {"wrap", "the command of the spec says what runs"},
    {"clusters", "a runner serves one cluster"}};

/* sbatch takes the beginning of a name for the whole. */
static const char *why_ours(const char *name)
{
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strncmp(ours[i].name, name, strlen(name)) == 0)
            return ours[i].why;
    return NULL;
}

static const char *name_fault(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const size_t len = strlen(name);
    return len >= 2 && len <= HT_MAX_NAME && name[0] != '-' &&
                   name[strspn(name, allowed)] == '\0'
               ? NULL
               : "is no long option of sbatch, such as mail-type";
}

/* The option as it is kept, "--NAME=VALUE"; NULL after a fault. */
static const char *option_text(const struct field_reader *reader,
                               struct place at, const char *name,
                               const char *value)
{
    const char *fault = name_fault(name);
    if (fault != NULL) {
        field_error(reader, at, "\"%.*s\" %s", HT_MAX_NAME, name, fault);
        return NULL;
    }
    const char *why = why_ours(name);
    if (why != NULL) {
        field_error(reader, at, "--%s is set by hypertune: %s", name, why);
        return NULL;
    }
    fault = value != NULL ? text_fault(value) : NULL;
    if (fault != NULL) {
        field_error(reader, at, "the value of --%s %s", name,
                    value[0] == '\0' ? "is empty" : fault);
        return NULL;
    }
    return value != NULL ? arena_printf(reader->arena, "--%s=%s", name, value)
                         : arena_printf(reader->arena, "--%s", name);
}

/* An item of the list: "--mail-type=END", with or without the dashes. */
static const char *read_item(const struct field_reader *reader, struct place at)
{
    const char *text = node_string(at.node);
    if (text == NULL) {
        field_wrong_kind(reader, at, "text such as --mail-type=END");
        return NULL;
    }
    if (strncmp(text, "--", 2) == 0)
        text += 2;
    const char *equals = strchr(text, '=');
    const char *name = equals != NULL ? arena_strndup(reader->arena, text,
                                                      (size_t)(equals - text))
                                      : text;
    return option_text(reader, at, name, equals != NULL ? equals + 1 : NULL);
}

/* A member of the map: the name, and its value or true. */
static const char *read_entry(const struct field_reader *reader,
                              struct place at)
{
    bool flag;
    if (node_bool(at.node, &flag)) {
        if (flag)
            return option_text(reader, at, at.node->key, NULL);
        field_error(reader, at, "leave an option out that is not wanted");
        return NULL;
    }
    if (at.node->text == NULL || at.node->kind == NODE_NULL) {
        field_wrong_kind(reader, at, "text, a number or true");
        return NULL;
    }
    return option_text(reader, at, at.node->key, at.node->text);
}

static void read_options(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    const bool is_map = at.node->kind == NODE_MAP;
    if (!is_map && at.node->kind != NODE_LIST) {
        field_wrong_kind(reader, at, "a list or a map");
        return;
    }
    if (at.node->count > (size_t)field->max) {
        field_error(reader, at, "has %zu options, at most %d are allowed",
                    at.node->count, (int)field->max);
        return;
    }
    const char **items =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *items);
    size_t n = 0;
    const struct place *item =
        is_map ? field_members(reader, at) : field_items(reader, at);
    for (; item->node != NULL; item++) {
        const char *text =
            is_map ? read_entry(reader, *item) : read_item(reader, *item);
        if (text != NULL)
            items[n++] = text;
    }
    if (n == at.node->count)
        *(struct strings *)into = (struct strings){n, items};
}

/* ---- the section ---- */

const struct field job_slurm_rows[] = {
    {"account", field_word, SLURM(account), .fault = text_fault},
    {"partition", field_word, SLURM(partition), .fault = text_fault},
    {"qos", field_word, SLURM(qos), .fault = text_fault},
    {"constraint", field_word, SLURM(constraint), .fault = text_fault},
    {"reservation", field_word, SLURM(reservation), .fault = text_fault},
    {"gres", field_word, SLURM(gres), .fault = text_fault},
    {"exclusive", field_flag, .offset = SLURM(exclusive)},
    {"time", read_time, SLURM(time_ms), .min = 1, .max = INT64_C(31622400000)},
    {"trialsPerJob", field_whole, SLURM(trials_per_job), .min = 1,
     .max = HT_MAX_TRIALS},
    {"modules", read_modules, SLURM(modules), .max = MOST_MODULES},
    {"container", read_container, .offset = SLURM(container)},
    {"options", read_options, SLURM(options), .max = MOST_OPTIONS},
    {0}};

void job_slurm_write(cJSON *object, const struct job_slurm *slurm)
{
    if (!slurm->said)
        return;
    cJSON *map = json_add_object(object, "slurm");
    json_add_text(map, "account", slurm->account);
    json_add_text(map, "partition", slurm->partition);
    json_add_text(map, "qos", slurm->qos);
    json_add_text(map, "constraint", slurm->constraint);
    json_add_text(map, "reservation", slurm->reservation);
    json_add_text(map, "gres", slurm->gres);
    json_add_flag(map, "exclusive", slurm->exclusive);
    json_add_span(map, "time", slurm->time_ms);
    json_add_count(map, "trialsPerJob", slurm->trials_per_job);
    json_add_strings(map, "modules", &slurm->modules);
    json_add_text(map, "container", slurm->container);
    json_add_strings(map, "options", &slurm->options);
}

/* What engines of containers run has a name in a registry. */
static void check_paths(const struct field_reader *reader,
                        const struct job_draft *draft)
{
    const char *engine = draft->job.run_on.engine;
    if (engine != NULL && strcmp(engine, SLURM_ENGINE) == 0)
        return;
    for (size_t i = 0; i < draft->job.n_pools; i++) {
        const char *image = draft->job.pools[i].image;
        if (image == NULL || image[0] != '/')
            continue;
        field_error(reader, draft->pools,
                    "the image %.128s is a path, and only Slurm runs those",
                    image);
        diag_hint(reader->diag, "write the section slurm, or a name such as "
                                "registry.example/train:7");
        return;
    }
}

void job_slurm_check(const struct field_reader *reader, struct job_draft *draft)
{
    if (draft->job.slurm.said)
        job_run_on_section(reader, draft->slurm, SLURM_ENGINE, "Slurm",
                           &draft->job.run_on);
    check_paths(reader, draft);
}
