#include "hypertune/lib/metric_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "hypertune/lib/report_record.h"

enum { WINDOW = 100 /* reports kept, cloudml-hypertune's maxlen */ };

struct metric_file {
    const char *path;
    const char *trial;
    size_t n, next;      /* lines held, and where the next one goes */
    char *lines[WINDOW]; /* a ring */
};

struct metric_file *metric_file_new(const char *path, const char *trial)
{
    struct metric_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    file->path = path;
    file->trial = trial;
    return file;
}

/* A positive number as 0.DIGITS * 10^point, no zero at either end. */
struct decimal {
    char digits[RECORD_DOUBLE_BYTES];
    int n, point;
};

static struct decimal take_apart(const char *text)
{
    struct decimal d = {.n = 0};
    bool after_point = false;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text == '.') {
            after_point = true;
            continue;
        }
        if (d.n > 0 || *text != '0')
            d.digits[d.n++] = *text;
        if (!after_point && d.n > 0)
            d.point++;
        else if (after_point && d.n == 0)
            d.point--;
    }
    if (*text == 'e')
        d.point += (int)strtol(text + 1, NULL, 10);
    while (d.n > 0 && d.digits[d.n - 1] == '0')
        d.n--;
    return d;
}

void metric_file_double(char text[METRIC_FILE_DOUBLE_BYTES], double value)
{
    static const char zeros[] = "0000000000000000";
    const size_t cap = METRIC_FILE_DOUBLE_BYTES;
    const char *sign = signbit(value) ? "-" : "";
    if (isnan(value) || isinf(value)) {
        snprintf(text, cap, "%s%s", isnan(value) ? "" : sign,
                 isnan(value) ? "nan" : "inf");
        return;
    }
    char shortest[RECORD_DOUBLE_BYTES];
    report_record_double(shortest, fabs(value));
    const struct decimal d = take_apart(shortest);
    /* The bounds 16 and -4 are those of Python's repr(). */
    if (d.n == 0)
        snprintf(text, cap, "%s0.0", sign);
    else if (d.point > 16 || d.point <= -4)
        snprintf(text, cap, "%s%c%s%.*se%+03d", sign, d.digits[0],
                 d.n > 1 ? "." : "", d.n - 1, d.digits + 1, d.point - 1);
    else if (d.point <= 0)
        snprintf(text, cap, "%s0.%.*s%.*s", sign, -d.point, zeros, d.n,
                 d.digits);
    else if (d.n <= d.point)
        snprintf(text, cap, "%s%.*s%.*s.0", sign, d.n, d.digits, d.point - d.n,
                 zeros);
    else
        snprintf(text, cap, "%s%.*s.%.*s", sign, d.point, d.digits,
                 d.n - d.point, d.digits + d.point);
}

/* JSON in ASCII, as json.dumps() writes it. */
static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text != '\0') {
        uint32_t code;
        int len = report_record_utf8(text, &code);
        text += len > 0 ? len : 1;
        if (len == 0)
            code = 0xFFFD; /* Python would have refused to decode it */
        static const char raw[] = "\"\\\n\r\t\f\b";
        static const char escaped[] = "\"\\nrtfb";
        const char *named =
            code < 0x80 ? memchr(raw, (int)code, sizeof raw - 1) : NULL;
        if (named != NULL)
            fprintf(out, "\\%c", escaped[named - raw]);
        else if (code >= 0x20 && code <= 0x7F) /* DEL stays */
            fputc((int)code, out);
        else if (code < 0x10000)
            fprintf(out, "\\u%04x", (unsigned)code);
        else
            fprintf(out, "\\u%04x\\u%04x",
                    (unsigned)(0xD800 + ((code - 0x10000) >> 10)),
                    (unsigned)(0xDC00 + (code & 0x3FF)));
    }
    fputc('"', out);
}

struct member {
    const char *key;
    const char *value;
    bool is_number; /* the timestamp; all else is text */
};

static int by_key(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;
    return strcmp(left->key, right->key);
}

/* Python fills its dictionary in this order, so that a later member of the
 * same name takes the place of an earlier one. */
static size_t put_member(struct member *members, size_t n, struct member member)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(members[i].key, member.key) == 0) {
            members[i] = member;
            return n;
        }
    }
    members[n] = member;
    return n + 1;
}

static char *make_line(const struct metric_file *file, const char *tag,
                       double value, int64_t step, const char *checkpoint)
{
    char number[METRIC_FILE_DOUBLE_BYTES];
    char count[24];
    char stamp[32];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(stamp, sizeof stamp, "%lld.%06ld", (long long)now.tv_sec,
             now.tv_nsec / 1000);
    snprintf(count, sizeof count, "%" PRId64, step);
    metric_file_double(number, value);
    struct member members[5];
    size_t n = 0;
    n = put_member(members, n, (struct member){"timestamp", stamp, true});
    n = put_member(members, n, (struct member){"trial", file->trial, false});
    n = put_member(members, n, (struct member){tag, number, false});
    n = put_member(members, n, (struct member){"global_step", count, false});
    n = put_member(members, n,
                   (struct member){"checkpoint_path", checkpoint, false});
    qsort(members, n, sizeof *members, by_key);

    char *line = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&line, &len);
    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? "{" : ", ", out);
        print_string(out, members[i].key);
        fputs(": ", out);
        if (members[i].is_number)
            fputs(members[i].value, out);
        else
            print_string(out, members[i].value);
    }
    fputs("}\n", out);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(line);
        return NULL;
    }
    return line;
}

static void make_folders(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(folder, 0777); /* what fails here shows when the file is opened */
        *slash = '/';
    }
}

static int write_window(const struct metric_file *file)
{
    FILE *out = fopen(file->path, "we");
    if (out == NULL && errno == ENOENT) {
        make_folders(file->path);
        out = fopen(file->path, "we");
    }
    if (out == NULL)
        return errno;
    for (size_t i = 0; i < file->n; i++)
        fputs(file->lines[(file->next + WINDOW - file->n + i) % WINDOW], out);
    bool failed = ferror(out) != 0;
    return fclose(out) != 0 || failed ? EIO : 0;
}

int metric_file_report(struct metric_file *file, const char *tag, double value,
                       int64_t step, const char *checkpoint)
{
    char *line = make_line(file, tag, value, step, checkpoint);
    if (line == NULL)
        return ENOMEM;
    free(file->lines[file->next]);
    file->lines[file->next] = line;
    file->next = (file->next + 1) % WINDOW;
    if (file->n < WINDOW)
        file->n++;
    return write_window(file);
}
