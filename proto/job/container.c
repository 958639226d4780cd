/* container.c - the image, machine, volumes and secrets of a job. */

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"

#define OPTION(member) offsetof(struct container_options, member)
#define CODE(member) offsetof(struct job_code, member)
#define SECRET(member) offsetof(struct secret, member)

/* ---- words ---- */

/* A user may look like a number: its text is what counts. */

static void read_user(const struct field_reader *reader, struct place at,
                      const struct field *field, void *into)
{
    struct node text = *at.node;
    if (text.kind == NODE_NUMBER)
        text.kind = NODE_STRING;
    field_word(reader, (struct place){&text, at.path}, field, into);
}

/* ---- volumes and folders ---- */

static void check_volume(const struct field_reader *reader, struct place at,
                         const struct node *list)
{
    const char *wrong = container_volume_fault(at.node->text);
    if (wrong) {
        field_error(reader, at, "\"%.*s\" %s", HT_MAX_NAME, at.node->text,
                    wrong);
        diag_hint(reader->diag, "such as /data:/data:ro");
        return;
    }
    for (const struct node *node = list->first; node != at.node;
         node = node->next)
        if (container_same_target(node->text, at.node->text))
            field_error(reader, at, "has the target of \"%s\", too",
                        node->text);
}

void job_volumes(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    struct job_draft *draft = into;
    struct strings read = {0};
    size_t before = reader->diag->errors;
    if (!field_read_texts(reader, at, (size_t)field->max, false, &read))
        return;
    for (const struct place *item = field_items(reader, at); item->node; item++)
        check_volume(reader, *item, at.node);
    if (reader->diag->errors == before)
        draft->job.volumes = read;
}

void job_workdir(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    (void)field;
    struct job_draft *draft = into;
    const char *folder = node_string(at.node);
    draft->workdir = at;
    if (folder == NULL)
        field_wrong_kind(reader, at, "text");
    else if (folder[0] == '\0')
        field_error(reader, at, "is empty");
    else
        draft->job.workdir = folder;
}

/* ---- code ---- */

static const char *hash_fault(const char *word)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    return strlen(word) == TOKEN_TEXT_BYTES - 1 && token_unhex(hash, word)
               ? NULL
               : "is no SHA-256: it has 64 digits of 0-9a-f";
}

static const char *folder_fault(const char *word)
{
    return word[0] == '/' ? NULL : "is no absolute path";
}

const struct field_choice job_code_ways[] = {
    {"auto", -1, CODE_AUTO}, {"none", -1, CODE_NONE}, {NULL, 0, 0}};

const struct field job_code_rows[] = {
    {"way", field_choose, CODE(way), .choices = job_code_ways},
    {"tree", field_word, CODE(tree), .fault = hash_fault},
    {"machine", field_word, CODE(machine), .fault = hash_fault},
    {"folder", field_word, CODE(folder), .fault = folder_fault},
    {0}};

/* ---- container ---- */

static const struct field_choice pulls[] = {
    {"ifNotPresent", -1, PULL_IF_NOT_PRESENT},
    {"always", -1, PULL_ALWAYS},
    {"never", -1, PULL_NEVER},
    {NULL, 0, 0}};

const struct field_choice job_reporters[] = {
    {"auto", -1, REPORTER_AUTO}, {"python", -1, REPORTER_PYTHON}, {NULL, 0, 0}};

const struct field job_container_rows[] = {
    {"pull", field_choose, OPTION(pull), .choices = pulls},
    {"user", read_user, OPTION(user), .fault = container_user_fault},
    {"readOnly", field_flag, .offset = OPTION(read_only)},
    {"network", field_word, OPTION(network), .fault = container_network_fault},
    {"shm", field_bytes, OPTION(shm_bytes), .max = INT64_C(1) << 40},
    {"pids", field_whole, OPTION(pids), .max = HT_MAX_PIDS},
    {"privileged", field_flag, .offset = OPTION(privileged)},
    {"hostPid", field_flag, .offset = OPTION(host_pid)},
    {0}};

/* ---- secrets ---- */

const struct field job_secret_rows[] = {
    {"file", field_word, SECRET(file), .fault = container_secret_fault},
    {"env", field_word, SECRET(env), .fault = container_secret_variable_fault},
    {0}};

static void read_secret(const struct field_reader *reader, struct place at,
                        struct secret *secret)
{
    size_t before = reader->diag->errors;
    *secret = (struct secret){.name = at.node->key};
    if (!field_is_variable(reader, at, secret->name))
        return;
    field_read_map(reader, at, job_secret_rows, secret);
    if (reader->diag->errors > before ||
        (secret->file == NULL) != (secret->env == NULL))
        return;
    field_error(reader, at, "needs either a file or an env");
    diag_hint(reader->diag, "such as %s: {file: name}", secret->name);
}

void job_secrets(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    (void)field;
    struct job_draft *draft = into;
    draft->secrets = at;
    if (at.node->kind != NODE_MAP || at.node->count > HT_MAX_ENV) {
        field_error(reader, at, "must be a map of at most %d variables",
                    HT_MAX_ENV);
        return;
    }
    struct secret *secrets =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *secrets);
    size_t n = 0;
    for (const struct place *item = field_members(reader, at); item->node;
         item++)
        read_secret(reader, *item, &secrets[n++]);
    draft->job.n_secrets = n;
    draft->job.secrets = secrets;
}

/* ---- keep ---- */

const struct field job_keep_rows[] = {
    {"best", field_whole, .min = 1, .max = HT_MAX_TRIALS}, {0}};

/* ---- writing ---- */

static void add_container(cJSON *object, const struct container_options *said)
{
    cJSON *container = cJSON_CreateObject();
    if (said->pull != PULL_IF_NOT_PRESENT)
        json_add_string(container, "pull", pulls[said->pull].name);
    json_add_text(container, "user", said->user);
    json_add_flag(container, "readOnly", said->read_only);
    json_add_text(container, "network", said->network);
    json_add_count(container, "shm", said->shm_bytes);
    json_add_count(container, "pids", said->pids);
    json_add_flag(container, "privileged", said->privileged);
    json_add_flag(container, "hostPid", said->host_pid);
    json_add_filled(object, "container", container);
}

static void add_secrets(cJSON *object, const struct job *job)
{
    cJSON *secrets = cJSON_CreateObject();
    for (size_t i = 0; i < job->n_secrets; i++) {
        const struct secret *secret = &job->secrets[i];
        cJSON *member = json_add_object(secrets, secret->name);
        json_add_text(member, "file", secret->file);
        json_add_text(member, "env", secret->env);
    }
    json_add_filled(object, "secrets", secrets);
}

void job_container_write(cJSON *object, const struct job *job)
{
    json_add_strings(object, "volumes", &job->volumes);
    add_container(object, &job->container);
    add_secrets(object, job);
    if (job->reporter != REPORTER_AUTO)
        json_add_string(object, "reporter", job_reporters[job->reporter].name);
    json_add_flag(object, "rewriteGs", job->rewrite_gcs);
    if (job->keep_best > 0)
        json_add_int(json_add_object(object, "keep"), "best", job->keep_best);
}
