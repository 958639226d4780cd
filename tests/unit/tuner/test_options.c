#include "tuner/options.h"

#include "tests/check.h"

static char *nothing(const char *name)
{
    (void)name;
    return NULL;
}

static char *some(const char *name)
{
    static char folder[] = "/env", listen[] = "127.0.0.1:9";
    if (strcmp(name, "HYPERTUNED_DATA") == 0)
        return folder;
    return strcmp(name, "HYPERTUNED_LISTEN") == 0 ? listen : NULL;
}

static struct options options;
static struct text out;
static struct ht_error err;

#define READ(lookup, ...)                                                      \
    read_words(lookup, (char *[]){"hypertuned", __VA_ARGS__, NULL})

static enum ht_status read_words(char *(*lookup)(const char *), char *words[])
{
    int n = 0;
    while (words[n] != NULL)
        n++;
    text_clear(&out);
    const struct flags_source source = {n, words, lookup};
    return options_read(&source, &options, &out, &err);
}

static void defaults_are_those_of_the_manual(void)
{
    CHECK(READ(nothing, "--data", "/d") == HT_OK);
    CHECK(out.len == 0);
    CHECK_TEXT(options.data, "/d");
    CHECK_TEXT(options.listen, "127.0.0.1:8470");
    CHECK_TEXT(options.report_listen, "tcp://127.0.0.1:8471");
    CHECK_TEXT(options.auth, "token");
    CHECK_TEXT(options.runner, "process");
    CHECK(options.slots == 0 && !options.on_demand);
    CHECK(options.idle_exit_ms == 0);
}

static void flags_win_over_variables_over_defaults(void)
{
    CHECK(READ(some, "--listen=127.0.0.1:7") == HT_OK);
    CHECK_TEXT(options.data, "/env");
    CHECK_TEXT(options.listen, "127.0.0.1:7");
    CHECK(READ(some, "--data", "/flag") == HT_OK);
    CHECK_TEXT(options.data, "/flag");
    CHECK_TEXT(options.listen, "127.0.0.1:9");
}

static char *mlflows(const char *name)
{
    static char url[] = "http://m:5000", user[] = "me", password[] = "key";
    if (strcmp(name, "MLFLOW_TRACKING_URI") == 0)
        return url;
    if (strcmp(name, "MLFLOW_TRACKING_USERNAME") == 0)
        return user;
    if (strcmp(name, "MLFLOW_TRACKING_PASSWORD") == 0)
        return password;
    return NULL;
}

static void a_server_of_ones_own_takes_ones_own_mlflow(void)
{
    CHECK(READ(mlflows, "--data", "/d") == HT_OK);
    CHECK(options.mlflow == NULL && options.mlflow_own_login[0] == '\0');
    CHECK(READ(mlflows, "--data", "/d", "--on-demand") == HT_OK);
    CHECK_TEXT(options.mlflow, "http://m:5000");
    CHECK_TEXT(options.mlflow_own_login, "me:key");
    CHECK(READ(mlflows, "--data", "/d", "--on-demand", "--mlflow",
               "https://n") == HT_OK);
    CHECK_TEXT(options.mlflow, "https://n");
    CHECK(options.mlflow_own_login[0] == '\0');
}

static char *with_password(const char *name)
{
    static char url[] = "http://me:key@m:5000";
    return strcmp(name, "MLFLOW_TRACKING_URI") == 0 ? url : NULL;
}

static void an_mlflow_that_cannot_be_used_is_left_out(void)
{
    CHECK(READ(with_password, "--data", "/d", "--on-demand") == HT_OK);
    CHECK(options.mlflow == NULL);
}

static void an_on_demand_server_ends_after_half_an_hour(void)
{
    CHECK(READ(some, "--on-demand") == HT_OK);
    CHECK(options.on_demand && options.idle_exit_ms == 30 * 60 * 1000);
    CHECK(READ(some, "--on-demand", "--idle-exit", "1.5s") == HT_OK);
    CHECK(options.idle_exit_ms == 1500);
}

static void help_names_every_flag_and_variable(void)
{
    CHECK(READ(nothing, "--help") == HT_OK);
    CHECK(strstr(out.data, "--report-listen URL") != NULL);
    CHECK(strstr(out.data, "HYPERTUNED_SLOTS") != NULL);
    CHECK(READ(nothing, "--version") == HT_OK);
    CHECK_TEXT(out.data, "hypertuned " HT_VERSION "\n");
}

static void wrong_words_are_refused(void)
{
    CHECK(READ(nothing, "--slots", "2") == HT_INVALID);
    CHECK(READ(some, "--slots", "two") == HT_INVALID);
    CHECK_TEXT(err.text, "--slots: \"two\" is not a number from 0 to 1000");
    CHECK(READ(some, "--slots") == HT_INVALID);
    CHECK(READ(some, "--slot=1") == HT_INVALID);
    CHECK(READ(some, "serve") == HT_INVALID);
    CHECK(READ(some, "--auth", "basic") == HT_INVALID);
    CHECK(READ(some, "--runner", "ssh") == HT_INVALID);
    CHECK(READ(some, "--listen", "8470") == HT_INVALID);
    CHECK(READ(some, "--report-listen", "ipc:///tmp/x") == HT_INVALID);
    CHECK(READ(some, "--idle-exit", "soon") == HT_INVALID);
}

static void a_network_sees_no_token_unasked(void)
{
    CHECK(READ(some, "--listen", "0.0.0.0:1") == HT_INVALID);
    CHECK(strstr(err.text, "--insecure") != NULL);
    CHECK(READ(some, "--listen", "[::]:1") == HT_INVALID);
    CHECK(READ(some, "--listen", "192.0.2.1:1", "--insecure") == HT_OK);
    CHECK(READ(some, "--report-listen", "tcp://0.0.0.0:1") == HT_INVALID);
    CHECK(READ(some, "--control-listen", "tcp://[::]:1") == HT_INVALID);
    CHECK(READ(some, "--control-listen", "tcp://[::1]:1") == HT_OK);
    CHECK(READ(some, "--behind-proxy", "10.0.0.1") == HT_INVALID);
    CHECK(READ(some, "--proxy-user-header", "X-User") == HT_INVALID);
    CHECK(READ(some, "--listen", "0.0.0.0:1", "--behind-proxy", "10.0.0.1",
               "--public-name", "https://t") == HT_OK);
    CHECK(READ(some, "--behind-proxy", "10.0.0.1", "--public-name", "https://t",
               "--report-listen", "tcp://0.0.0.0:1") == HT_INVALID);
}

static void clients_are_asked_for_certificates_by_tls_only(void)
{
    CHECK(READ(some, "--tls-clients", "own") == HT_INVALID);
    CHECK(strstr(err.text, "--tls-clients needs TLS") != NULL);
    CHECK(READ(some, "--tls-clients", "own", "--tls-cert", "c", "--tls-key",
               "k") == HT_INVALID);
    CHECK(strstr(err.text, "give the file of an authority") != NULL);
    CHECK(READ(some, "--tls-clients", "a.pem", "--tls-cert", "c", "--tls-key",
               "k") == HT_OK);
    CHECK_TEXT(options.tls_clients, "a.pem");
    CHECK(options.tls_crl == NULL);
    CHECK(READ(some, "--tls-clients", "own", "--tls", "/t") == HT_OK);
    CHECK_TEXT(options.tls_clients, "/t/ca.pem");
    CHECK_TEXT(options.tls_crl, "/t/crl.pem");
}

static void runners_are_a_list_of_engines(void)
{
    char engine[OPTIONS_ENGINE_BYTES];
    CHECK(READ(some, "--runner", "process,docker", "--volume-root=/data,/more",
               "--share") == HT_OK);
    CHECK_TEXT(options.volume_root, "/data,/more");
    CHECK(options.share);
    const char *rest = options.runner;
    CHECK(options_next_engine(&rest, engine));
    CHECK_TEXT(engine, "process");
    CHECK(options_next_engine(&rest, engine));
    CHECK_TEXT(engine, "docker");
    CHECK(!options_next_engine(&rest, engine));
    static char *const wrong[] = {"", "process,process", ",docker",
                                  "docker,none", "process;docker"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(READ(some, "--runner", wrong[i]) == HT_INVALID);
}

static void without_tokens_only_loopback_is_served(void)
{
    CHECK(READ(some, "--auth", "none", "--listen", "0.0.0.0:8470") ==
          HT_INVALID);
    CHECK(strstr(err.text, "refused") != NULL);
    CHECK(READ(some, "--auth=none", "--listen=example.test:8470") ==
          HT_INVALID);
    CHECK(READ(some, "--auth=none", "--listen=[::1]:0") == HT_OK);
    CHECK(READ(some, "--auth=none", "--listen=127.9.9.9:0") == HT_OK);
}

static void addresses_have_a_host_and_a_port(void)
{
    char host[OPTIONS_HOST_BYTES];
    int port;
    CHECK(options_split_address("h:0", host, &port, NULL) == HT_OK);
    CHECK_TEXT(host, "h");
    CHECK(port == 0);
    CHECK(options_split_address("[2001:db8::1]:65535", host, &port, NULL) ==
          HT_OK);
    CHECK_TEXT(host, "2001:db8::1");
    CHECK(port == 65535);
    static char *const wrong[] = {
        "", ":1", "h", "h:", "h:-1", "h:65536", "::1:8", "h:1x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(options_split_address(wrong[i], host, &port, NULL) == HT_INVALID);
}

int main(void)
{
    RUN(defaults_are_those_of_the_manual);
    RUN(flags_win_over_variables_over_defaults);
    RUN(a_server_of_ones_own_takes_ones_own_mlflow);
    RUN(an_mlflow_that_cannot_be_used_is_left_out);
    RUN(an_on_demand_server_ends_after_half_an_hour);
    RUN(help_names_every_flag_and_variable);
    RUN(wrong_words_are_refused);
    RUN(a_network_sees_no_token_unasked);
    RUN(clients_are_asked_for_certificates_by_tls_only);
    RUN(runners_are_a_list_of_engines);
    RUN(without_tokens_only_loopback_is_served);
    RUN(addresses_have_a_host_and_a_port);
    text_free(&out);
    return check_done();
}
