/* doctor.c - `doctor`: checks this machine, the server and its runners. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/engine.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/host/findings.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/clock.h"

enum {
    REQUEST_MS = 5000,
    HTTP_PORT = 8470,
    REPORT_PORT = 8471,
    STUDIES_A_PAGE = 100
};

/* ---- container engines ---- */

/* The limits of an engine that is ready. */
static void check_abilities(struct findings *findings,
                            const struct cli_engine *engine)
{
    if (!engine->linux_containers)
        findings_add(findings, FINDING_WARN, "containers",
                     "switch the engine to Linux containers",
                     "%s does not run Linux containers", engine->name);
    if (engine->rootless)
        findings_add(findings, FINDING_WARN, "containers",
                     "for clusters of replicas use an engine that runs as root",
                     "%s is rootless: replicas of one trial cannot reach each "
                     "other, and reports travel through files",
                     engine->name);
    if (!engine->limits)
        findings_add(findings, FINDING_WARN, "containers",
                     "let the engine use control groups (version 2, or root)",
                     "%s does not keep limits of memory and processors",
                     engine->name);
    if (engine->podman)
        findings_add(findings, FINDING_NOTE, "containers", NULL,
                     "%s gives containers no GPUs; Docker does", engine->name);
}

static bool check_place(struct findings *findings, const char *url)
{
    struct cli_engine engine = cli_engine_ask(findings->cli, url);
    bool is_docker = strstr(url, "docker") != NULL;
    switch (engine.state) {
    case CLI_ENGINE_READY:
        findings_add(findings, FINDING_OK, "containers", NULL,
                     "%s at %s, API %s, %lld images", engine.name, url,
                     engine.api, engine.images);
        check_abilities(findings, &engine);
        return true;
    case CLI_ENGINE_DENIED:
        findings_add(findings, FINDING_WARN, "containers",
                     is_docker ? "sudo usermod -aG docker $USER, then log in "
                                 "again"
                               : "systemctl --user enable --now podman.socket",
                     "%s: %s", url, engine.trouble);
        return true;
    case CLI_ENGINE_SILENT:
        findings_add(findings, FINDING_WARN, "containers",
                     "start the engine again, or correct DOCKER_HOST", "%s: %s",
                     url, engine.trouble);
        return true;
    case CLI_ENGINE_ABSENT:
        return false;
    }
    return false;
}

static void check_engines(struct findings *findings)
{
    struct cli *cli = findings->cli;
    struct words places = cli_engine_places(cli);
    bool any = false;
    for (size_t i = 0; i < places.n; i++)
        any |= check_place(findings, places.items[i]);
    if (any)
        return;
    if (places.n == 1)
        findings_add(findings, FINDING_WARN, "containers",
                     "start that engine, or unset DOCKER_HOST",
                     "no engine is at %s", places.items[0]);
    else
        findings_add(findings, FINDING_NOTE, "containers",
                     "for specs with images: apt install docker.io, or podman "
                     "and systemctl --user enable --now podman.socket",
                     "no container engine; commands run as processes");
}

/* ---- the server ---- */

static void check_mode(struct findings *findings, const char *path,
                       const char *want)
{
    struct stat info;
    if (stat(path, &info) != 0 || (info.st_mode & 077) == 0)
        return;
    findings_add(findings, FINDING_WARN, "access",
                 arena_printf(findings->cli->arena, "chmod %s %s", want, path),
                 "%s is open to other users (mode %03o)", path,
                 (unsigned)(info.st_mode & 0777));
}

static void check_folder_modes(struct findings *findings, const char *folder)
{
    static const char *const secrets[] = {"token", "runner-token"};
    struct arena *arena = findings->cli->arena;
    size_t before = findings->n;
    struct stat info;
    if (stat(folder, &info) != 0)
        return;
    check_mode(findings, folder, "700");
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        check_mode(findings, arena_printf(arena, "%s/%s", folder, secrets[i]),
                   "600");
    if (findings->n == before)
        findings_add(findings, FINDING_OK, "access", NULL,
                     "data and tokens are yours alone");
}

static void check_port(struct findings *findings, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
        findings_add(findings, FINDING_OK, "ports", NULL, "%d is free", port);
    else
        findings_add(findings, FINDING_NOTE, "ports", NULL,
                     "%d: %s; your own server takes another one, \"hypertune "
                     "serve\" needs --listen and --report-listen",
                     port, strerror(errno));
    close(fd);
}

static bool check_runner(const struct node *runner, void *context)
{
    struct findings *findings = context;
    struct text about = {0};
    bool online = cli_runners_is_online(runner);
    cli_runners_describe(runner, &about);
    findings_add(findings, online ? FINDING_OK : FINDING_NOTE, "runner", NULL,
                 "%s", about.data);
    text_free(&about);
    return true;
}

static void check_webhook(struct findings *findings, const struct node *webhook)
{
    struct text about = {0};
    char span[CLOCK_DURATION_BYTES];
    const int64_t now_ms = clock_wall_ms();
    const int64_t pending = node_get_int(webhook, "pending", 0);
    const int64_t failures = node_get_int(webhook, "failures", 0);
    const int64_t taken_ms = node_get_int(webhook, "lastSuccessTimeMs", 0);
    const int64_t failed_ms = node_get_int(webhook, "lastErrorTimeMs", 0);
    text_puts(&about, node_get_string(webhook, "name", "?"));
    if (taken_ms > 0)
        text_printf(&about, " took a delivery %s ago",
                    clock_duration(span, now_ms - taken_ms));
    else
        text_puts(&about, " took no delivery yet");
    if (pending > 0)
        text_printf(&about, ", %lld wait%s", (long long)pending,
                    pending == 1 ? "s" : "");
    if (failures > 0)
        text_printf(&about,
                    "; failed %lld time%s in a row, the last %s ago: %s",
                    (long long)failures, failures == 1 ? "" : "s",
                    clock_duration(span, now_ms - failed_ms),
                    node_get_string(webhook, "lastError", ""));
    findings_add(findings, failures > 0 ? FINDING_WARN : FINDING_OK, "webhook",
                 failures > 0
                     ? "see why its receiver refuses; deliveries wait and "
                       "are sent again for a day"
                     : NULL,
                 "%s", about.data);
    text_free(&about);
}

static void check_webhooks(struct findings *findings, const struct node *server)
{
    const char *wrong = node_get_string(server, "webhooksError", "");
    if (wrong[0] != '\0')
        findings_add(findings, FINDING_WARN, "webhook",
                     "correct webhooks.json in the server's data folder; it is "
                     "read again by itself",
                     "the earlier settings are in force: %s", wrong);
    NODE_EACH (one, node_first(server, "webhooks"))
        check_webhook(findings, one);
}

static void check_trackers(struct findings *findings, const struct node *server)
{
    NODE_EACH (one, node_first(server, "trackers"))
        if (node_get_int(one, "failures", 0) > 0)
            findings_add(findings, FINDING_WARN, "tracker",
                         "see why it refuses; what it lacks is sent later",
                         "%s at %s lacks parts of studies (%lld): %s",
                         node_get_string(one, "name", "?"),
                         node_get_string(one, "place", "?"),
                         (long long)node_get_int(one, "behind", 0),
                         node_get_string(one, "lastError", ""));
}

static bool check_study(const struct node *job, void *context)
{
    struct findings *findings = context;
    struct cli_study study;
    const char *where = cli_where(findings->cli);
    cli_study_read(job, &study);
    NODE_EACH (one, node_first(study.status, "silent"))
        findings_add(
            findings, FINDING_WARN, "trial",
            arena_printf(findings->cli->arena,
                         "see hypertune logs %s/%s%s; stop it: hypertune "
                         "stop-trial %s/%s%s, or onSilence: stop in the spec",
                         study.name, cli_scalar(node_find(one, "trial")), where,
                         study.name, cli_scalar(node_find(one, "trial")),
                         where),
            "study %s: trial %s is %s", study.name,
            cli_scalar(node_find(one, "trial")),
            node_get_string(one, "words", ""));
    return true;
}

static enum ht_status check_studies(struct findings *findings,
                                    struct ht_error *err)
{
    struct cli *cli = findings->cli;
    const struct cli_pages pages = {
        .path = cli_query(cli, CLI_OURS, "readMask",
                          "name,hypertuneStatus.name,hypertuneStatus.silent"),
        .key = "studies",
        .size = STUDIES_A_PAGE,
        .keep = true};
    return cli_pages_each(cli, &pages, check_study, findings, err);
}

static void check_disk(struct findings *findings, const struct node *disk)
{
    const char *alarm = node_get_string(disk, "alarm", "");
    if (alarm[0] != '\0')
        findings_add(findings, FINDING_WARN, "disk",
                     "free some of it, or move the data folder", "%s", alarm);
}

static void check_secrets(struct findings *findings, const struct node *secrets)
{
    const char *plain = node_get_string(secrets, "plain", "");
    const char *key = node_get_string(secrets, "key", "");
    if (key[0] != '\0')
        findings_add(findings, FINDING_OK, "secrets", NULL,
                     "encrypted in the data folder, with the key %s", key);
    else if (plain[0] != '\0')
        findings_add(findings, FINDING_NOTE, "secrets",
                     "start the server with --key-file, docs/security.md",
                     "in plain in the data folder and its copies, with mode "
                     "0600: %s",
                     plain);
}

static void check_backups(struct findings *findings, const struct node *backups)
{
    char span[CLOCK_DURATION_BYTES];
    const int64_t made_ms = node_get_int(backups, "madeMs", 0);
    const int64_t failures = node_get_int(backups, "failures", 0);
    const char *folder = node_get_string(backups, "folder", "?");
    if (failures > 0)
        findings_add(findings, FINDING_WARN, "backup",
                     "correct that; hypertune backup tries again",
                     "failed %lld time%s in a row: %s", (long long)failures,
                     failures == 1 ? "" : "s",
                     node_get_string(backups, "lastError", ""));
    else if (made_ms > 0)
        findings_add(findings, FINDING_OK, "backup", NULL,
                     "the newest is %s old, in %s",
                     clock_duration(span, clock_wall_ms() - made_ms), folder);
    else
        findings_add(findings, FINDING_NOTE, "backup",
                     node_get_int(backups, "everyMs", 0) > 0
                         ? NULL
                         : "hypertune backup, or hypertuned --backups DIR",
                     "there is none in %s yet", folder);
}

static void check_tls(struct findings *findings, const struct node *server)
{
    enum { DAY_MS = 86400000, WARN_DAYS = 14 };
    static const char renew[] =
        "on the server: hypertune tls init, or renew its file";
    const int64_t ends_ms = node_get_int(server, "tlsEndsMs", 0);
    const int64_t left_ms = ends_ms - clock_wall_ms();
    if (ends_ms == 0)
        return;
    if (left_ms <= 0)
        findings_add(findings, FINDING_FAIL, "tls", renew,
                     "the server's certificate has expired");
    else
        findings_add(
            findings,
            left_ms < (int64_t)WARN_DAYS * DAY_MS ? FINDING_WARN : FINDING_OK,
            "tls", left_ms < (int64_t)WARN_DAYS * DAY_MS ? renew : NULL,
            "%s, its certificate ends in %lld days",
            node_get_string(server, "https", "reports and control"),
            (long long)(left_ms / DAY_MS));
}

/* A server that answers at `url`, its runners and its webhooks. */
static void ask_server(struct findings *findings, const char *whose)
{
    struct cli *cli = findings->cli;
    struct ht_error err;
    struct cli_http_answer answer;
    char span[CLOCK_DURATION_BYTES];
    if (cli_call(cli, "GET", "/hypertune/v1/server", NULL, &answer, &err) !=
        HT_OK) {
        findings_add(findings, FINDING_WARN, "server",
                     "start it again (any command does for your own), or "
                     "correct --server and the token file",
                     "%s", err.text);
        return;
    }
    const char *damage = node_get_string(answer.root, "readOnlyReason", "");
    findings_add(
        findings, damage[0] != '\0' ? FINDING_WARN : FINDING_OK, "server",
        damage[0] != '\0' ? "restore a backup of its data folder" : NULL,
        "%s at %s, version %s, for %s%s%s", whose, cli_http_url(cli->http),
        node_get_string(answer.root, "version", "?"),
        clock_duration(span, node_get_int(answer.root, "uptimeMs", 0)),
        damage[0] != '\0' ? ", read only: " : "", damage);
    const char *logs = node_get_string(answer.root, "logsDamage", "");
    if (logs[0] != '\0')
        findings_add(findings, FINDING_WARN, "logs",
                     "logs.db of the data folder is damaged: what is on its "
                     "other pages is read; stop the server and move the file "
                     "away to begin a new one",
                     "%s", logs);
    check_tls(findings, answer.root);
    check_disk(findings, node_find(answer.root, "disk"));
    check_secrets(findings, node_find(answer.root, "secrets"));
    check_webhooks(findings, answer.root);
    check_trackers(findings, answer.root);
    check_backups(findings, node_find(answer.root, "backups"));
    if (cli_runners_each(cli, check_runner, findings, &err) != HT_OK)
        findings_add(findings, FINDING_WARN, "runner", NULL, "%s", err.text);
    if (check_studies(findings, &err) != HT_OK)
        findings_add(findings, FINDING_WARN, "trial", NULL, "%s", err.text);
}

static void check_server(struct findings *findings, const char *folder)
{
    struct cli *cli = findings->cli;
    bool quiet = cli->set.quiet;
    bool there = cli_connect_silently(cli, REQUEST_MS);
    cli->set.quiet = quiet;
    if (there) {
        ask_server(findings, cli_named_server(cli) != NULL ? "the named one"
                                                           : "your own");
    } else {
        findings_add(findings, FINDING_OK, "server", NULL,
                     "your own does not run; the next command starts it");
        check_port(findings, HTTP_PORT);
        check_port(findings, REPORT_PORT);
    }
    if (folder != NULL && cli_named_server(cli) == NULL)
        check_folder_modes(findings, folder);
}

/* ---- all of it ---- */

int cli_doctor(struct cli *cli)
{
    struct findings findings = {.cli = cli};
    const char *folder = cli_state_folder(cli);
    machine_examine(&findings, folder);
    check_engines(&findings);
    slurm_examine(&findings);
    kubernetes_examine(&findings);
    check_server(&findings, folder);
    int code = findings_print(&findings);
    if (code == CLI_DONE && findings_failed(&findings))
        return cli_fail(cli, CLI_REFUSED, "no trial can run here");
    return code;
}
