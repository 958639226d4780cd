#include "runner/mirror/names.h"

#include <stddef.h>
#include <string.h>

enum {
    MOST_PATH = 1024,
    MOST_PART = 255,
    MOST_LOG = 1024 * 1024,   /* HT_LOG_SEGMENT */
    MOST_OUTPUT = 256 * 1024, /* of an element's script */
    MOST_RESULTS = 256 * 1024 * 1024,
    MOST_WHOLE = 48 * 1024 /* FRAME_DATA */
};

bool names_is_path(const char *path)
{
    size_t len = 0; /* of the part */
    if (strlen(path) > MOST_PATH)
        return false;
    for (const char *c = path;; c++) {
        if (*c != '/' && *c != '\0') {
            if ((unsigned char)*c < ' ' || *c == 0x7f || ++len > MOST_PART)
                return false;
            continue;
        }
        if (len == 0 || (len == 1 && c[-1] == '.') ||
            (len == 2 && c[-1] == '.' && c[-2] == '.'))
            return false;
        if (*c == '\0')
            return true;
        len = 0;
    }
}

/* Whether the text is as the pattern: '#' is some digits. */
static bool fits(const char *text, const char *pattern)
{
    static const char digits[] = "0123456789";
    for (; *pattern != '\0'; pattern++) {
        const size_t n = *pattern == '#' ? strspn(text, digits)
                                         : (size_t)(*text == *pattern);
        if (n == 0 || n > 19)
            return false;
        text += n;
    }
    return *text == '\0';
}

static bool fits_any(const char *text, const char *const patterns[])
{
    while (*patterns != NULL && !fits(text, *patterns))
        patterns++;
    return *patterns != NULL;
}

static const char *const logs[] = {"stdout.#.log", "stderr.#.log", NULL};

static enum names_file of_replica(const char *name)
{
    static const char *const ours[] = {"token", "params", "launch.json", "stop",
                                       NULL};
    static const char *const whole[] = {"shim.json", "usage.json", "exit.json",
                                        NULL};
    static const char *const grow[] = {"reports.jsonl", "output.metrics",
                                       "events.jsonl", NULL};
    if (fits_any(name, ours))
        return NAMES_OURS;
    if (fits_any(name, whole))
        return NAMES_WHOLE;
    return fits_any(name, logs) || fits_any(name, grow) ? NAMES_GROWS
                                                        : NAMES_NONE;
}

static enum names_file of_element(const char *name)
{
    static const char *const whole[] = {"element.json", "ask.#", "ended.#",
                                        "address.#.#", NULL};
    if (fits(name, "answer.#"))
        return NAMES_OURS;
    return fits_any(name, whole) ? NAMES_WHOLE : NAMES_NONE;
}

bool names_is_inner(enum names_folder folder, const char *name)
{
    return folder == NAMES_BATCH ? fits(name, "#") : name[0] != '.';
}

enum names_file names_of(enum names_folder folder, const char *extra,
                         const char *path)
{
    const char *slash = strchr(path, '/');
    if (!names_is_path(path))
        return NAMES_NONE;
    if (*extra != '\0' && strcmp(path, extra) == 0)
        return NAMES_GROWS;
    if (folder == NAMES_ATTEMPT && slash == NULL)
        return strcmp(path, "placement.json") == 0 ? NAMES_OURS : NAMES_NONE;
    if (slash == NULL)
        return fits(path, "patience.json") ? NAMES_OURS
               : fits(path, "#.out")       ? NAMES_GROWS
                                           : NAMES_NONE;
    char inner[MOST_PART + 1] = "";
    memcpy(inner, path, (size_t)(slash - path));
    if (strchr(slash + 1, '/') != NULL || !names_is_inner(folder, inner))
        return NAMES_NONE;
    return folder == NAMES_ATTEMPT ? of_replica(slash + 1)
                                   : of_element(slash + 1);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

long long names_most(const char *path)
{
    const char *name = last_part(path);
    if (fits_any(name, logs))
        return MOST_LOG;
    if (fits(name, "#.out"))
        return MOST_OUTPUT;
    return of_replica(name) == NAMES_WHOLE || of_element(name) == NAMES_WHOLE
               ? MOST_WHOLE
               : MOST_RESULTS;
}

bool names_may_go(const char *path)
{
    return fits_any(last_part(path), logs);
}

bool names_is_found(const char *path)
{
    const char *slash = strchr(path, '/');
    if (!names_is_path(path) || slash == NULL)
        return false;
    if (strncmp(path, "batches/", 8) == 0 || strncmp(path, "code/", 5) == 0)
        return slash[1] != '.' && strchr(slash + 1, '/') == NULL;
    return fits(path, "#/#/#");
}
