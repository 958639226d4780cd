#include "runner/kubernetes/kubeconfig.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static char folder[PATH_MAX];
static char variables[4][PATH_MAX]; /* KUBECONFIG, HOME, host, port */
static struct arena *arena;
static struct kube_config config;
static struct ht_error err;

static char *lookup(const char *name)
{
    static const char *const names[] = {"KUBECONFIG", "HOME",
                                        "KUBERNETES_SERVICE_HOST",
                                        "KUBERNETES_SERVICE_PORT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0 && variables[i][0] != '\0')
            return variables[i];
    }
    return NULL;
}

static const char *put(const char *name, const char *text)
{
    CHECK(disk_replace(folder, name, text, strlen(text), 0600, NULL) == HT_OK);
    return arena_printf(arena, "%s/%s", folder, name);
}

static enum ht_status find(const char *kubeconfig)
{
    const struct kube_config_wish wish = {.lookup = lookup};
    (void)snprintf(variables[0], sizeof variables[0], "%s", kubeconfig);
    return kube_config_find(&wish, arena, &config, &err);
}

/* A kubeconfig with one context, and the members of its user. */
static const char *with_user(const char *members)
{
    return put("user", arena_printf(arena,
                                    "current-context: c\n"
                                    "contexts:\n"
                                    "- {name: c, context: {cluster: a, "
                                    "user: u}}\n"
                                    "clusters:\n"
                                    "- {name: a, cluster: {server: "
                                    "\"https://one/\"}}\n"
                                    "users:\n- name: u\n  user:\n%s",
                                    members));
}

static void a_file_of_kubectl_is_read(void)
{
    CHECK(find(with_user("    token: secret\n    as: ann\n"
                         "    as-groups: [x, y]\n")) == HT_OK);
    CHECK_TEXT(config.context, "c");
    CHECK_TEXT(config.server, "https://one");
    CHECK_TEXT(config.user.token, "secret");
    CHECK_TEXT(config.user.as, "ann");
    CHECK(config.user.as_groups.n == 2);
}

static void words_that_yaml_once_took_for_flags_are_names(void)
{
    CHECK(find(put("yes", "current-context: y\n"
                          "contexts: [{name: y, context: {cluster: on, "
                          "user: no, namespace: off}}]\n"
                          "clusters: [{name: on, cluster: {server: "
                          "\"https://h\"}}]\n"
                          "users: [{name: no, user: {token: yes}}]\n")) ==
          HT_OK);
    CHECK_TEXT(config.context, "y");
    CHECK_TEXT(config.namespace, "off");
    CHECK_TEXT(config.user.token, "yes");
}

static void the_first_file_that_has_a_name_wins_as_a_whole(void)
{
    const char *one = put("one", "contexts: [{name: c, context: {cluster: a, "
                                 "user: u}}]\n"
                                 "users: [{name: u, user: {username: ann, "
                                 "password: one}}]\n");
    const char *two = put("two", "current-context: c\n"
                                 "clusters: [{name: a, cluster: {server: "
                                 "\"https://two\"}}]\n"
                                 "users: [{name: u, user: {token: two}}]\n"
                                 "contexts: [{name: c, context: {cluster: a, "
                                 "namespace: two}}]\n");
    CHECK(find(arena_printf(arena, "%s/none::%s:%s:%s", folder, one, two,
                            one)) == HT_OK);
    CHECK_TEXT(config.server, "https://two");
    CHECK_TEXT(config.user.name, "ann");
    CHECK(config.user.token == NULL);
    CHECK_TEXT(config.namespace, "default");
}

static void paths_are_relative_to_their_file(void)
{
    CHECK(find(with_user("    client-certificate: c.pem\n"
                         "    client-key: /k.pem\n"
                         "    exec:\n"
                         "      apiVersion: client.authentication.k8s.io/v1\n"
                         "      command: bin/login\n"
                         "      args: [a, \"1\"]\n"
                         "      env: [{name: A, value: b}]\n")) == HT_OK);
    CHECK_TEXT(config.user.cert_file, arena_printf(arena, "%s/c.pem", folder));
    CHECK_TEXT(config.user.key_file, "/k.pem");
    CHECK_TEXT(config.user.exec.command,
               arena_printf(arena, "%s/bin/login", folder));
    CHECK(config.user.exec.args.n == 2 && config.user.exec.env.n == 1);
    CHECK_TEXT(config.user.exec.env.items[0].value, "b");
}

/* The words have the place, and `secret` is not in them. */
static void check_fault(const char *file, const char *words)
{
    CHECK(find(file) == HT_INVALID);
    CHECK(strncmp(err.text, file, strlen(file)) == 0);
    CHECK_TEXT(strncmp(err.text, file, strlen(file)) == 0
                   ? err.text + strlen(file)
                   : err.text,
               words);
}

static void what_is_wrong_is_named_with_its_place_and_no_secret(void)
{
    check_fault(with_user("    token: 17\n"),
                ":9:12: users[u].user.token must be text, not a number");
    check_fault(with_user("    token: [secret]\n"),
                ":9:12: users[u].user.token must be text, not a list");
    check_fault(with_user("    client-certificate: secret\n"),
                ":9:5: users[u].user has a client certificate or its key, "
                "not both");
    check_fault(with_user("    auth-provider: {name: gcp}\n"),
                ":9:5: users[u].user has an auth-provider, which kubectl has "
                "not had since 1.26; use the cluster's exec plugin");
    check_fault(with_user("    client-key-data: \"secret!\"\n"
                          "    client-certificate: a\n"),
                ":9:5: users[u].user has no base64 in client-key-data");
    check_fault(with_user("    token: secret\n    token: secret\n"),
                ":10:5: is no YAML of a kubeconfig (it may have no anchors "
                "and tags)");
    check_fault(with_user("    exec: {command: a, apiVersion: "
                          "client.authentication.k8s.io/v1alpha1}\n"),
                ":9:11: users[u].user.exec must have the apiVersion "
                "client.authentication.k8s.io/v1 or v1beta1; newer releases "
                "of its program write that");
    check_fault(with_user("    exec: {command: a, interactiveMode: Always, "
                          "apiVersion: client.authentication.k8s.io/v1}\n"),
                ":9:11: users[u].user.exec has a program that asks a person "
                "(interactiveMode Always): a runner has none");
}

static void names_that_lead_nowhere_are_faults(void)
{
    const char *file = put("names", "current-context: c\n"
                                    "contexts: [{name: c, context: {cluster: "
                                    "a, user: u}}, {name: d}]\n"
                                    "clusters: [{name: a, cluster: {server: "
                                    "\"https://h\"}}]\n");
    check_fault(file, ": has no user \"u\"");
    struct kube_config_wish wish = {.lookup = lookup, .context = "e"};
    CHECK(kube_config_find(&wish, arena, &config, &err) == HT_INVALID);
    CHECK(strstr(err.text, "has no context \"e\"") != NULL);
    check_fault(put("no-current", "contexts: []\n"),
                ": there is no current-context; choose one by kubectl config "
                "use-context NAME");
    check_fault(put("insecure",
                    "current-context: c\n"
                    "contexts: [{name: c, context: {cluster: a}}]\n"
                    "clusters: [{name: a, cluster: {server: \"https://h\", "
                    "insecure-skip-tls-verify: true, "
                    "certificate-authority: x}}]\n"),
                ":3:31: clusters[a].cluster has a certificate authority "
                "together with insecure-skip-tls-verify");
}

/* Whose servers are many, and have their certificates in the file. */
static void a_long_file_is_read(void)
{
    struct text text = {0};
    text_puts(&text, "current-context: c\n"
                     "contexts: [{name: c, context: {cluster: z}}]\n"
                     "clusters:\n");
    for (int i = 0; i < 60; i++)
        text_printf(&text,
                    "- name: a%d\n  cluster:\n    server: \"https://h\"\n"
                    "    certificate-authority-data: %08000d\n",
                    i, 0);
    text_puts(&text, "- {name: z, cluster: {server: \"https://z\"}}\n");
    CHECK(find(put("long", text.data)) == HT_OK);
    CHECK_TEXT(config.server, "https://z");
    text_free(&text);
}

static void a_server_has_no_password_in_it(void)
{
    check_fault(put("server", "current-context: c\n"
                              "contexts: [{name: c, context: {cluster: a}}]\n"
                              "clusters: [{name: a, cluster: {server: "
                              "\"https://ann:secret@h\"}}]\n"),
                ":3:31: clusters[a].cluster has a server with more in it than "
                "a host, a port and a path");
}

static void a_pod_has_its_account_and_other_places_have_none(void)
{
    const struct kube_config_wish wish = {.lookup = lookup, .account = folder};
    variables[0][0] = '\0';
    CHECK(kube_config_find(&wish, arena, &config, &err) == HT_NOT_FOUND);
    put("token", "t\n");
    put("namespace", "lab\n");
    (void)snprintf(variables[2], sizeof variables[2], "fd00::1");
    (void)snprintf(variables[3], sizeof variables[3], "443");
    CHECK(kube_config_find(&wish, arena, &config, &err) == HT_OK);
    CHECK_TEXT(config.server, "https://[fd00::1]:443");
    CHECK_TEXT(config.namespace, "lab");
}

static void a_file_comes_before_the_account(void)
{
    const struct kube_config_wish wish = {.lookup = lookup, .account = folder};
    variables[0][0] = '\0';
    const char *kube = arena_printf(arena, "%s/.kube", folder);
    CHECK(mkdir(kube, 0700) == 0);
    static const char text[] = "current-context: c\n"
                               "contexts: [{name: c, context: {cluster: a}}]\n"
                               "clusters: [{name: a, cluster: {server: "
                               "\"http://h\"}}]\n";
    CHECK(disk_replace(kube, "config", text, strlen(text), 0600, NULL) ==
          HT_OK);
    CHECK(kube_config_find(&wish, arena, &config, &err) == HT_OK);
    CHECK_TEXT(config.server, "http://h");
}

int main(void)
{
    runner_fixture_init();
    runner_fixture_folder(folder);
    (void)snprintf(variables[1], sizeof variables[1], "%s", folder);
    arena = arena_new();
    RUN(a_file_of_kubectl_is_read);
    RUN(words_that_yaml_once_took_for_flags_are_names);
    RUN(the_first_file_that_has_a_name_wins_as_a_whole);
    RUN(paths_are_relative_to_their_file);
    RUN(what_is_wrong_is_named_with_its_place_and_no_secret);
    RUN(names_that_lead_nowhere_are_faults);
    RUN(a_long_file_is_read);
    RUN(a_server_has_no_password_in_it);
    RUN(a_pod_has_its_account_and_other_places_have_none);
    RUN(a_file_comes_before_the_account);
    arena_free(arena);
    runner_fixture_fini();
    return check_done();
}
