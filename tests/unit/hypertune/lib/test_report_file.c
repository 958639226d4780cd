/* Lines of reports.jsonl: whole or absent, whatever the disk does. */
#include "hypertune/lib/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hypertune/hypertune.h"
#include "hypertune/lib/metric_file.h"
#include "hypertune/lib/report_record.h"
#include "tests/check.h"

static char folder[256];

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char content[1 << 20];

static const char *read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t n = file != NULL ? fread(content, 1, sizeof content - 1, file) : 0;
    content[n] = '\0';
    if (file != NULL)
        fclose(file);
    return content;
}

static int append(struct report_file *file, const char *line)
{
    return report_file_append(file, line, strlen(line));
}

static void lines_are_appended_to_a_private_file(void)
{
    struct report_file file;
    struct stat now;
    const char *path = path_of("private");
    umask(0);
    report_file_init(&file, path);
    CHECK(append(&file, "one\n") == 0);
    CHECK(append(&file, "two\n") == 0);
    CHECK_TEXT(read_all(path), "one\ntwo\n");
    CHECK(stat(path, &now) == 0 && (now.st_mode & 0777) == 0600);
    CHECK((fcntl(file.fd, F_GETFD) & FD_CLOEXEC) != 0);
    report_file_close(&file);
    CHECK(file.fd == -1);
}

static void links_pipes_and_missing_folders_are_refused(void)
{
    struct report_file file;
    char target[512];
    snprintf(target, sizeof target, "%s", path_of("target"));
    CHECK(symlink(target, path_of("link")) == 0);
    report_file_init(&file, path_of("link"));
    CHECK(append(&file, "x\n") == ELOOP);
    CHECK(access(target, F_OK) != 0);
    CHECK(mkfifo(path_of("pipe"), 0600) == 0);
    report_file_init(&file, path_of("pipe"));
    CHECK(append(&file, "x\n") != 0);
    report_file_init(&file, path_of("no/such/folder"));
    CHECK(append(&file, "x\n") == ENOENT);
}

static void a_limit_on_file_size_leaves_no_torn_line(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) { /* SIGXFSZ keeps its default: it would kill this child */
        struct report_file file;
        const struct rlimit limit = {20, 20};
        report_file_init(&file, path_of("limited"));
        bool ok = append(&file, "0123456789\n") == 0;
        setrlimit(RLIMIT_FSIZE, &limit);
        ok &= append(&file, "does not fit\n") == ENOSPC;
        ok &= append(&file, "fits\n") == 0;
        ok &= append(&file, "abc\n") == 0;
        ok &= append(&file, "x\n") == EFBIG;
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_TEXT(read_all(path_of("limited")), "0123456789\nfits\nabc\n");
}

static void a_full_disk_leaves_no_torn_line(void)
{
    const char *small = path_of("small");
    mkdir(small, 0700);
    if (mount("none", small, "tmpfs", 0, "size=8k") != 0)
        SKIP("may not mount");
    struct report_file file;
    char line[3001];
    memset(line, 'x', sizeof line);
    line[sizeof line - 2] = '\n';
    line[sizeof line - 1] = '\0';
    report_file_init(&file, path_of("small/reports"));
    CHECK(append(&file, line) == 0);
    CHECK(append(&file, line) == 0);
    CHECK(append(&file, line) != 0);
    struct stat now;
    CHECK(stat(path_of("small/reports"), &now) == 0 && now.st_size == 6000);
    CHECK(append(&file, "short\n") == 0);
    CHECK(strcmp(read_all(path_of("small/reports")) + 5999, "\nshort\n") == 0);
    report_file_close(&file);
    CHECK(umount(path_of("small")) == 0);
}

static void a_foreign_torn_tail_is_not_joined_to_our_line(void)
{
    struct report_file file;
    const char *path = path_of("torn");
    FILE *other = fopen(path, "w");
    fputs("{\"w\":\"to", other);
    fclose(other);
    report_file_init(&file, path);
    CHECK(append(&file, "whole\n") == 0);
    CHECK(append(&file, "next\n") == 0);
    CHECK_TEXT(read_all(path), "{\"w\":\"to\nwhole\nnext\n");
    report_file_close(&file);
}

static void a_descriptor_taken_by_another_file_is_left_alone(void)
{
    struct report_file file;
    char path[512];
    snprintf(path, sizeof path, "%s", path_of("mine"));
    report_file_init(&file, path);
    CHECK(append(&file, "one\n") == 0);
    int stranger = open(path_of("stranger"), O_RDWR | O_CREAT, 0600);
    int number = file.fd;
    CHECK(dup2(stranger, number) == number);
    CHECK(append(&file, "two\n") == 0);
    report_file_close(&file);
    CHECK(fcntl(number, F_GETFD) >= 0);
    CHECK_TEXT(read_all(path_of("stranger")), "");
    CHECK_TEXT(read_all(path), "one\ntwo\n");
    close(number);
    close(stranger);
}

static void a_lock_that_is_never_released_delays_but_does_not_block(void)
{
    struct report_file file;
    const char *path = path_of("locked");
    int holder = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(flock(holder, LOCK_EX) == 0);
    report_file_init(&file, path);
    CHECK(append(&file, "one\n") == 0);
    CHECK_TEXT(read_all(path), "one\n");
    report_file_close(&file);
    close(holder);
}

static void processes_never_interleave_their_lines(void)
{
    enum { WRITERS = 4, LINES = 300, WIDTH = 5000 };
    pid_t pids[WRITERS];
    fflush(stdout);
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        if (pids[i] != 0)
            continue;
        struct report_file file;
        char line[WIDTH];
        memset(line, 'a' + i, sizeof line);
        line[WIDTH - 1] = '\n';
        report_file_init(&file, path_of("shared"));
        int rc = 0;
        for (int n = 0; n < LINES; n++)
            rc |= report_file_append(&file, line, sizeof line);
        _exit(rc != 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        CHECK(status == 0);
    }
    FILE *file = fopen(path_of("shared"), "r");
    static char line[WIDTH + 2];
    int lines = 0;
    int torn = 0;
    for (; fgets(line, sizeof line, file) != NULL; lines++) {
        const char same[] = {line[0], '\0'};
        torn += strspn(line, same) != WIDTH - 1 || line[WIDTH - 1] != '\n';
    }
    fclose(file);
    CHECK(lines == WRITERS * LINES);
    CHECK(torn == 0);
}

/* ---- the record in the line ---- */

static void doubles_are_shortest_and_come_back(void)
{
    static const struct {
        double value;
        const char *json, *python;
    } table[] = {{0.1, "0.1", "0.1"},
                 {3, "3", "3.0"},
                 {-0.0, "-0", "-0.0"},
                 {1e-7, "1e-07", "1e-07"},
                 {0.0001, "0.0001", "0.0001"},
                 {0.00012345, "0.00012345", "0.00012345"},
                 {0.0000125, "1.25e-05", "1.25e-05"},
                 {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"},
                 {1e15, "1e+15", "1000000000000000.0"},
                 {1e16, "1e+16", "1e+16"},
                 {123456.75, "123456.75", "123456.75"},
                 {12345678901234567890.0, "1.2345678901234567e+19",
                  "1.2345678901234567e+19"},
                 {9007199254740993.0, "9007199254740992", "9007199254740992.0"},
                 {5e-324, "5e-324", "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308",
                  "1.7976931348623157e+308"},
                 {__builtin_nan(""), "\"NaN\"", "nan"},
                 {-__builtin_inf(), "\"-Infinity\"", "-inf"},
                 {__builtin_inf(), "\"Infinity\"", "inf"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char json[RECORD_DOUBLE_BYTES];
        char python[METRIC_FILE_DOUBLE_BYTES];
        CHECK(report_record_double(json, table[i].value) == (int)strlen(json));
        metric_file_double(python, table[i].value);
        CHECK_TEXT(json, table[i].json);
        CHECK_TEXT(python, table[i].python);
    }
}

static const char *format(const char *name, double value, const char *path)
{
    static char line[RECORD_LINE_BYTES + 1];
    const struct hypertune_metric metrics[] = {{name, value}, {"z", 1}};
    const struct report_record record = {.writer = "00000000000000aa",
                                         .seq = 7,
                                         .time_ms = 1795231102098,
                                         .step = 4,
                                         .n = 2,
                                         .metrics = metrics,
                                         .checkpoint = path};
    int len = report_record_format(&record, line);
    line[len > 0 ? len : 0] = '\0';
    return line;
}

static void records_have_the_documented_form(void)
{
    CHECK_TEXT(format("accuracy", 0.93, NULL),
               "{\"w\":\"00000000000000aa\",\"n\":7,\"t\":1795231102098,"
               "\"s\":4,\"m\":{\"accuracy\":0.93,\"z\":1}}\n");
    CHECK_TEXT(format("a\"\\/\xC3\xA4", -1, "p\n\xFF\xED\xA0\x80\""),
               "{\"w\":\"00000000000000aa\",\"n\":7,\"t\":1795231102098,"
               "\"s\":4,\"m\":{\"a\\\"\\\\/\xC3\xA4\":-1,\"z\":1},"
               "\"c\":\"p\\u000a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
               "\xEF\xBF\xBD\\\"\"}\n");
}

static void names_that_the_server_would_refuse_are_refused_here(void)
{
    char name[RECORD_NAME_BYTES + 1];
    memset(name, 'n', sizeof name);
    name[RECORD_NAME_BYTES - 1] = '\0';
    CHECK(*format(name, 1, NULL) == '{');
    name[RECORD_NAME_BYTES - 1] = 'n';
    name[RECORD_NAME_BYTES] = '\0';
    CHECK_TEXT(format(name, 1, NULL), "");
    CHECK_TEXT(format("", 1, NULL), "");
    CHECK_TEXT(format("a\nb", 1, NULL), "");
    CHECK_TEXT(format("a\xC2\x85", 1, NULL), "");
    CHECK_TEXT(format("a\xC0\x80", 1, NULL), "");
    CHECK_TEXT(format("cut\xE2\x82", 1, NULL), "");
    CHECK_TEXT(format("z", 1, NULL), ""); /* twice */
    static char path[RECORD_CHECKPOINT_BYTES + 1];
    memset(path, 'p', sizeof path - 1);
    CHECK_TEXT(format("a", 1, path), "");
    path[RECORD_CHECKPOINT_BYTES - 1] = '\0';
    CHECK(*format("a", 1, path) == '{');
    memset(path, '\n', RECORD_CHECKPOINT_BYTES - 1); /* six bytes each */
    CHECK_TEXT(format("a", 1, path), "");
}

int main(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/ht-file-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    RUN(lines_are_appended_to_a_private_file);
    RUN(links_pipes_and_missing_folders_are_refused);
    RUN(a_limit_on_file_size_leaves_no_torn_line);
    RUN(a_full_disk_leaves_no_torn_line);
    RUN(a_foreign_torn_tail_is_not_joined_to_our_line);
    RUN(a_descriptor_taken_by_another_file_is_left_alone);
    RUN(a_lock_that_is_never_released_delays_but_does_not_block);
    RUN(processes_never_interleave_their_lines);
    RUN(doubles_are_shortest_and_come_back);
    RUN(records_have_the_documented_form);
    RUN(names_that_the_server_would_refuse_are_refused_here);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return check_done() | (system(command) != 0);
}
