/* What a container gets of this machine's folders, and what it never gets. */
#include "tests/check.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "runner/attempt/mounts.h"
#include "runner/base/disk.h"
#include "runner/base/safe_path.h"
#include "tests/lib/runner_fixture.h"

struct place {
    char root[PATH_MAX]; /* all of it */
    char data[PATH_MAX + 8], state[PATH_MAX + 8], buckets[PATH_MAX + 8];
    const char *roots[1];
    struct site site;
};

static void make(const char *root, const char *name)
{
    const struct safe_path_modes modes = {.parents = 0700, .last = 0755};
    CHECK(safe_path_make(root, name, &modes, NULL) == HT_OK);
}

static void place_open(struct place *place)
{
    runner_fixture_folder(place->root);
    (void)snprintf(place->data, sizeof place->data, "%s/data", place->root);
    (void)snprintf(place->state, sizeof place->state, "%s/state", place->root);
    (void)snprintf(place->buckets, sizeof place->buckets, "%s/gcs",
                   place->root);
    make(place->root, "data/set");
    make(place->root, "state/2/5/1/master-0");
    make(place->root, "gcs");
    make(place->root, "secret");
    place->roots[0] = place->data;
    place->site = (struct site){.state = place->state,
                                .kit = "/kit",
                                .volume_roots = {1, place->roots}};
}

/* `members` begin with a comma; @ in them is the data folder. */
static struct order *make_order(const struct place *place, const char *members)
{
    struct text lease = {0};
    text_puts(&lease, "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\","
                      "\"replicas\":[{\"type\":\"master\",\"index\":0,"
                      "\"image\":\"x\"}]");
    for (const char *at = members; *at != '\0'; at++) {
        if (*at == '@')
            text_puts(&lease, place->data);
        else
            text_append(&lease, at, 1);
    }
    text_puts(&lease, "}");
    return runner_fixture_order(&lease);
}

static enum ht_status find(const struct place *place, const struct order *order,
                           struct mounts *mounts, struct ht_error *err)
{
    return mounts_find(order->arena, &place->site, order, "/folder", mounts,
                       err);
}

static const struct mount *target_in(const struct mounts *mounts,
                                     const char *target)
{
    for (size_t i = 0; i < mounts->n; i++) {
        if (strcmp(mounts->items[i].target, target) == 0)
            return &mounts->items[i];
    }
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), len = strlen(end);
    return n >= len && strcmp(text + n - len, end) == 0;
}

/* Whether the volume is refused with these words. */
static void check_refused(const struct place *place, const char *volume,
                          const char *words)
{
    struct text members = {0};
    text_printf(&members, ",\"volumes\":[\"%s\"]", volume);
    struct order *order = make_order(place, members.data);
    struct mounts mounts;
    struct ht_error err = {.text = "(nothing was refused)"};
    CHECK(find(place, order, &mounts, &err) == HT_PRECONDITION);
    if (strstr(err.text, words) == NULL)
        printf("# %s\n# %s\n", volume, err.text);
    CHECK(strstr(err.text, words) != NULL);
    order_free(order);
    text_free(&members);
}

static void every_container_has_kit_folder_and_outputs(void)
{
    struct place place;
    place_open(&place);
    struct order *order = make_order(&place, "");
    struct mounts mounts = {0};
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    CHECK(mounts.n == 5);
    CHECK_TEXT(target_in(&mounts, "/hypertune/kit")->source, "/kit");
    CHECK(target_in(&mounts, "/hypertune/kit")->read_only);
    CHECK_TEXT(target_in(&mounts, "/hypertune/trial")->source, "/folder");
    CHECK(!target_in(&mounts, "/hypertune/trial")->read_only);
    const struct mount *model = target_in(&mounts, "/hypertune/output/model");
    CHECK(model != NULL && ends_with(model->source, "/state/2/5/model"));
    struct stat status;
    CHECK(stat(model->source, &status) == 0 &&
          (status.st_mode & 07777) == 0777);
    CHECK(target_in(&mounts, "/hypertune/output/checkpoints") != NULL);
    CHECK(target_in(&mounts, "/hypertune/output/logs") != NULL);
    order_free(order);
}

static void credentials_that_were_given_are_there_to_read(void)
{
    struct place place;
    place_open(&place);
    struct order *order = make_order(&place, "");
    struct mounts mounts = {0};
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    CHECK(target_in(&mounts, "/hypertune/credentials.json") == NULL);
    char folder[PATH_MAX + 24];
    (void)snprintf(folder, sizeof folder, "%s/credentials", place.state);
    CHECK(disk_make_folder(folder, NULL) == HT_OK);
    CHECK(disk_replace(folder, "2-5-1.json", "{}", 2, 0444, NULL) == HT_OK);
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    const struct mount *file =
        target_in(&mounts, "/hypertune/credentials.json");
    CHECK(file != NULL && file->read_only);
    CHECK(file != NULL &&
          ends_with(file->source, "/state/credentials/2-5-1.json"));
    order_free(order);
}

static void volumes_below_a_root_are_given(void)
{
    struct place place;
    place_open(&place);
    struct order *order = make_order(
        &place,
        ",\"volumes\":[\"@/set:/in:ro\",\"@:/mnt/all\",\"@/set:/s:rw\"]");
    struct mounts mounts = {0};
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    CHECK(mounts.n == 8);
    CHECK(target_in(&mounts, "/in")->read_only);
    CHECK(ends_with(target_in(&mounts, "/in")->source, "/data/set"));
    CHECK(!target_in(&mounts, "/mnt/all")->read_only);
    CHECK(!target_in(&mounts, "/s")->read_only);
    order_free(order);
}

static void sources_elsewhere_are_refused(void)
{
    struct place place;
    place_open(&place);
    check_refused(&place, "/etc:/etc2", "below none of the runner's");
    check_refused(&place, "@/../secret:/s", "no plain absolute path");
    check_refused(&place, "@/set/./x:/s", "no plain absolute path");
    check_refused(&place, "@//set:/s", "no plain absolute path");
    check_refused(&place, "@more:/s", "below none of the runner's");
    check_refused(&place, "set:/s", "no plain absolute path");
    check_refused(&place, "/:/s", "no plain absolute path");
    check_refused(&place, "@/absent:/s", "does not exist");
    place.site.volume_roots.n = 0;
    check_refused(&place, "@/set:/s", "below none of the runner's");
}

static void a_link_on_the_way_is_refused(void)
{
    struct place place;
    place_open(&place);
    char link_path[PATH_MAX + 16];
    (void)snprintf(link_path, sizeof link_path, "%s/out", place.data);
    CHECK(symlink("/etc", link_path) == 0);
    check_refused(&place, "@/out:/s", "passes a symbolic link");
    check_refused(&place, "@/out/ssl:/s", "passes a symbolic link");
}

static void targets_that_are_not_the_jobs_are_refused(void)
{
    static const char *const targets[] = {
        "/hypertune", "/hypertune/kit/bin", "/hypertune/output",
        "/proc",      "/proc/sys",          "/sys/fs",
        "/dev",       "/dev/shm",           "/gcs/b"};
    struct place place;
    place_open(&place);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char volume[64];
        (void)snprintf(volume, sizeof volume, "@/set:%s", targets[i]);
        check_refused(&place, volume, "not the job's");
    }
    check_refused(&place, "@/set:/", "no plain absolute path");
    check_refused(&place, "@/set:/a/../proc", "no plain absolute path");
    check_refused(&place, "@/set:in", "no plain absolute path");
    check_refused(&place, "@/set:", "no plain absolute path");
    check_refused(&place, "@/set", "is not HOST:TARGET");
    check_refused(&place, "@/set:/in\",\"@:/in", "is the target of two");
}

static void options_are_ro_or_rw(void)
{
    struct place place;
    place_open(&place);
    check_refused(&place, "@/set:/in:shared", "neither ro nor rw");
    check_refused(&place, "@/set:/in:ro,Z", "neither ro nor rw");
    check_refused(&place, "@/set:/in:", "neither ro nor rw");
}

static void sockets_and_what_has_the_engines_are_refused(void)
{
    struct place place;
    place_open(&place);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char folder[PATH_MAX];
    CHECK(getcwd(folder, sizeof folder) != NULL && chdir(place.data) == 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "set/e.sock");
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(chdir(folder) == 0);
    check_refused(&place, "@/set/e.sock:/e", "neither a folder nor a file");
    char host[PATH_MAX + 32];
    (void)snprintf(host, sizeof host, "unix://%s/set/e.sock", place.data);
    place.site.docker_host = host;
    check_refused(&place, "@/set:/s", "gives access to the container engine");
    place.roots[0] = "/run"; /* an admin who did not think of it */
    check_refused(&place, "/run:/host-run",
                  "gives access to the container engine");
    place.roots[0] = place.data;

    static const char *const names[] = {"engine-socket"};
    place.site.allowed = (struct strings){1, names};
    struct order *order =
        make_order(&place, ",\"volumes\":[\"@/set/e.sock:/e\",\"@/set:/s\"]");
    struct mounts mounts;
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    order_free(order);
    close(fd);
}

static void what_is_the_runners_own_is_refused(void)
{
    struct place place;
    place_open(&place);
    place.roots[0] = place.root;
    char secrets[PATH_MAX + 16], volume[PATH_MAX + 32];
    (void)snprintf(secrets, sizeof secrets, "%s/secret", place.root);
    place.site.secrets = secrets;
    (void)snprintf(volume, sizeof volume, "%s:/s", place.root);
    check_refused(&place, volume, "is the runner's own");
    (void)snprintf(volume, sizeof volume, "%s/state/2:/s", place.root);
    check_refused(&place, volume, "is the runner's own");
    (void)snprintf(volume, sizeof volume, "%s:/s", secrets);
    check_refused(&place, volume, "is the runner's own");
}

/* ---- output folders ---- */

static void outputs_of_the_jobs_choice_stay_below_a_root(void)
{
    struct place place;
    place_open(&place);
    struct order *order = make_order(&place, ",\"outputDir\":\"@/out/5\"");
    struct mounts mounts = {0};
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    const struct mount *model = target_in(&mounts, "/hypertune/output/model");
    CHECK(model != NULL && ends_with(model->source, "/data/out/5/model"));
    struct stat status;
    CHECK(stat(model->source, &status) == 0 &&
          (status.st_mode & 07777) == 0777);
    char parent[PATH_MAX + 32];
    (void)snprintf(parent, sizeof parent, "%s/out/5", place.data);
    CHECK(stat(parent, &status) == 0 && (status.st_mode & 07777) == 0700);
    order_free(order);

    static const char *const refused[] = {"@/../elsewhere", "/elsewhere",
                                          "@/linked/5"};
    char link_path[PATH_MAX + 16];
    (void)snprintf(link_path, sizeof link_path, "%s/linked", place.data);
    CHECK(symlink(place.root, link_path) == 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char member[128];
        (void)snprintf(member, sizeof member, ",\"outputDir\":\"%s\"",
                       refused[i]);
        order = make_order(&place, member);
        CHECK(find(&place, order, &mounts, NULL) == HT_PRECONDITION);
        order_free(order);
    }
    CHECK(!disk_has(place.root, "5") && !disk_has(place.root, "elsewhere"));
}

static void outputs_in_a_bucket_are_made_below_its_root(void)
{
    struct place place;
    place_open(&place);
    place.site.gcs_root = place.buckets;
    struct order *order = make_order(
        &place, ",\"rewriteGs\":true,\"outputDir\":\"gs://b/job/5\"");
    struct mounts mounts = {0};
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    CHECK(mounts.n == 3 && target_in(&mounts, "/gcs") != NULL);
    CHECK(disk_has(place.buckets, "b/job/5/model"));
    struct stat status; /* any user of a container passes it */
    char parent[PATH_MAX + 32];
    (void)snprintf(parent, sizeof parent, "%s/b/job/5", place.buckets);
    CHECK(stat(parent, &status) == 0 && (status.st_mode & 07777) == 0711);
    order_free(order);
    order = make_order(&place,
                       ",\"rewriteGs\":true,\"outputDir\":\"gs://../state/x\"");
    CHECK(find(&place, order, &mounts, NULL) == HT_PRECONDITION);
    CHECK(!disk_has(place.state, "x"));
    order_free(order);
    order = make_order(&place, ",\"outputDir\":\"gs://b/other/5\"");
    CHECK(find(&place, order, &mounts, NULL) == HT_OK);
    CHECK(!disk_has(place.buckets, "b/other"));
    order_free(order);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(every_container_has_kit_folder_and_outputs);
    RUN(credentials_that_were_given_are_there_to_read);
    RUN(volumes_below_a_root_are_given);
    RUN(sources_elsewhere_are_refused);
    RUN(a_link_on_the_way_is_refused);
    RUN(targets_that_are_not_the_jobs_are_refused);
    RUN(options_are_ro_or_rw);
    RUN(sockets_and_what_has_the_engines_are_refused);
    RUN(what_is_the_runners_own_is_refused);
    RUN(outputs_of_the_jobs_choice_stay_below_a_root);
    RUN(outputs_in_a_bucket_are_made_below_its_root);
    runner_fixture_fini();
    return check_done();
}
