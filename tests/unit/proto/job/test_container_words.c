/* What may reach a container engine, word by word. */
#include "proto/job/container_words.h"
#include "tests/check.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct one_of {
    const char *word;
    bool good;
};

static void check_all(const char *(*fault)(const char *word),
                      const struct one_of words[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *wrong = fault(words[i].word);
        if ((wrong == NULL) != words[i].good)
            CHECK_TEXT(wrong ? wrong : "taken as good", words[i].word);
    }
}

#define CHECK_ALL(fault, words)                                                \
    check_all(fault, words, sizeof(words) / sizeof *(words))

static void references_are_what_registries_take(void)
{
    static const struct one_of images[] = {
        {"busybox", true},
        {"train:7", true},
        {"localhost/py:1", true},
        {"localhost:5000/py", true},
        {"Registry.Local/team/train_x.y--z:v1.0-rc_1", true},
        {"europe-docker.pkg.dev/p/r/train@sha256:" HASH, true},
        {"gcr.io/my-project/train:latest@sha256:" HASH, true},
        {"sha256:" HASH, true},
        {HASH, true},
        {"", false},
        {":7", false},
        {"/images/train.sif", true},
        {"/images/../train", false},
        {"train/", false},
        {"train:", false},
        {"train:-7", false},
        {"train:7:8", false},
        {"a/b:7/c", false},
        {"Train", false},
        {"team/Train", false},
        {"team/.train", false},
        {"team/train-", false},
        {"registry.local:123456/train", false},
        {"registry.local:/train", false},
        {"-registry.local/train", false},
        {"train@", false},
        {"train@sha256", false},
        {"train@sha256:abc", false},
        {"train@sha256:" HASH "g", false},
        {"train@sha256:" HASH "@sha256:" HASH, false},
        {"https://registry.local/train", false},
        {"train;reboot", false},
        {"\xc3\xa9", false}};
    CHECK_ALL(container_image_fault, images);
}

static void volumes_lead_from_folder_to_folder(void)
{
    static const struct one_of volumes[] = {
        {"/data:/data", true},
        {"/data:/data:ro", true},
        {"/data:/data:rw", true},
        {"/:/host:ro", true}, /* the admin's roots decide */
        {"/a b:/c d", true},
        {"/data:/process", true},
        {"/data:/hypertune2", true},
        {"/data..x:/y..", true},
        {"/data", false},
        {"/data:", false},
        {":/data", false},
        {"data:/data", false},
        {"/data:data", false},
        {"/data:/data:", false},
        {"/data:/data:RO", false},
        {"/data:/data:ro,z", false},
        {"/..:/data", false},
        {"/data/..:/x", false},
        {"/data:/x/../..", false},
        {"/data:/", false},
        {"/data:///", false},
        {"/data:/.", false},
        {"/data:/./proc/", false},
        {"/data://sys/fs", false},
        {"/data:/hypertune", false},
        {"/data\x7f:/x", false}};
    CHECK_ALL(container_volume_fault, volumes);
    CHECK(container_same_target("/a:/x/y:ro", "/b://x/./y/"));
    CHECK(!container_same_target("/a:/x/y", "/a:/x"));
    CHECK(!container_same_target("/a:/x", "/a:/x/y"));
    CHECK(!container_same_target("/a:/xy", "/a:/xz"));
}

static void users_are_ids_or_names(void)
{
    static const struct one_of users[] = {
        {"0", true},       {"1000:1000", true},  {"nobody", true},
        {"a.b-c_d", true}, {"_apt:users", true}, {"", false},
        {":1", false},     {"1:", false},        {"1:2:3", false},
        {"-1", false},     {"a b", false},       {"a/b", false}};
    CHECK_ALL(container_user_fault, users);
}

static void networks_and_machines_are_names(void)
{
    static const struct one_of names[] = {
        {"none", true},       {"host", true}, {"n1-standard-4", true},
        {"team_net.1", true}, {"", false},    {"container:x", false},
        {"a b", false},       {"-x", false},  {"../x", false}};
    CHECK_ALL(container_network_fault, names);
    CHECK_ALL(container_machine_fault, names);
}

static void secrets_have_plain_names(void)
{
    static const struct one_of files[] = {
        {"wandb", true}, {"api-key.txt", true}, {"", false},   {".", false},
        {"..", false},   {".netrc", false},     {"a/b", false}};
    static const struct one_of variables[] = {{"WANDB", true}, {"2", true},
                                              {"", false},     {"A-B", false},
                                              {"A=B", false},  {"A\n", false}};
    CHECK_ALL(container_secret_fault, files);
    CHECK_ALL(container_secret_variable_fault, variables);
}

static void service_accounts_can_name_a_file(void)
{
    static const struct one_of accounts[] = {
        {"trainer@my-project.iam.gserviceaccount.com", true},
        {"123-compute@developer.gserviceaccount.com", true},
        {"a@p.example.com.iam.gserviceaccount.com", true},
        {"default", true},
        {"a+b@c", true},
        {"", false},
        {".", false},
        {"..", false},
        {".hidden@x", false},
        {"../a@b", false},
        {"a/../b@c", false},
        {"a@b\n", false},
        {"a b@c", false},
        {"-a@b", false},
        {"projects/-/serviceAccounts/a@b", false}};
    CHECK_ALL(container_account_fault, accounts);
}

int main(void)
{
    RUN(references_are_what_registries_take);
    RUN(volumes_lead_from_folder_to_folder);
    RUN(users_are_ids_or_names);
    RUN(networks_and_machines_are_names);
    RUN(secrets_have_plain_names);
    RUN(service_accounts_can_name_a_file);
    return check_done();
}
