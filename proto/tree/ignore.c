#include "proto/tree/ignore.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/tree/wildcard.h"

enum { MOST_BYTES = 1024 * 1024 }; /* of one .gitignore */

struct rule {
    const char *pattern;
    bool negated; /* what matches comes back */
    bool folders; /* matches folders alone */
    bool in_any;  /* matches the last part of a path, in any folder */
};

struct ignore {
    const struct ignore *around;
    const char *path; /* of the folder that has the file */
    size_t n;
    struct rule *rules;
};

/* ---- reading ---- */

/* Blanks at the end do not count, unless a backslash precedes them. */
static void cut_blanks(char *line)
{
    char *blanks = NULL;
    for (char *at = line; *at != '\0'; at++) {
        if (*at == ' ') {
            blanks = blanks != NULL ? blanks : at;
            continue;
        }
        blanks = NULL;
        at += *at == '\\' && at[1] != '\0';
    }
    if (blanks != NULL)
        *blanks = '\0';
}

static bool read_rule(char *line, struct rule *rule)
{
    size_t len = strlen(line);
    if (len > 0 && line[len - 1] == '\r')
        line[len - 1] = '\0';
    if (line[0] == '#')
        return false;
    cut_blanks(line);
    *rule = (struct rule){.negated = line[0] == '!'};
    line += rule->negated;
    len = strlen(line);
    rule->folders = len > 0 && line[len - 1] == '/';
    if (rule->folders)
        line[len - 1] = '\0';
    rule->in_any = strchr(line, '/') == NULL;
    rule->pattern = line + (line[0] == '/');
    return rule->pattern[0] != '\0';
}

static void read_rules(struct arena *arena, char *text, struct ignore *into)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (strncmp(text, mark, 3) == 0)
        text += 3;
    for (char *line = text; line != NULL; line = text) {
        text = strchr(line, '\n');
        if (text != NULL)
            *text++ = '\0';
        into->rules =
            arena_grow(arena, into->rules, into->n, sizeof *into->rules);
        into->n += read_rule(line, &into->rules[into->n]);
    }
}

static enum ht_status read_text(struct arena *arena, int fd, char **text,
                                struct ht_error *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return ht_fail_errno(err, errno, "cannot read .gitignore");
    if (status.st_size > MOST_BYTES)
        return ht_fail(err, HT_TOO_LARGE, ".gitignore has more than 1 MiB");
    char *bytes = arena_alloc(arena, (size_t)status.st_size + 1, 1);
    const ssize_t n = read(fd, bytes, (size_t)status.st_size);
    if (n < 0)
        return ht_fail_errno(err, errno, "cannot read .gitignore");
    *text = bytes;
    return HT_OK;
}

enum ht_status ignore_read(struct arena *arena, const struct ignore *around,
                           int folder, const char *path,
                           const struct ignore **rules, struct ht_error *err)
{
    const int fd = openat(folder, ".gitignore",
                          O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    *rules = around;
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP
                   ? HT_OK
                   : ht_fail_errno(err, errno, "cannot read .gitignore");
    char *text = NULL;
    const bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const enum ht_status result =
        is_file ? read_text(arena, fd, &text, err) : HT_OK;
    close(fd);
    if (text == NULL)
        return result;
    struct ignore *own = arena_alloc(arena, 1, sizeof *own);
    *own = (struct ignore){.around = around, .path = path};
    read_rules(arena, text, own);
    *rules = own;
    return HT_OK;
}

/* ---- above the folder ---- */

/* Length of the path of the innermost folder at or above it that holds .git; 0:
 * none does. */
static size_t find_top(const char *folder, struct arena *arena)
{
    size_t len = strlen(folder);
    while (len > 0) {
        const char *git = arena_printf(arena, "%.*s/.git", (int)len, folder);
        if (access(git, F_OK) == 0)
            return len;
        while (len > 0 && folder[--len] != '/')
            continue;
    }
    return 0;
}

enum ht_status ignore_read_above(struct arena *arena, const char *folder,
                                 const struct ignore **rules, const char **path,
                                 struct ht_error *err)
{
    const size_t len = strlen(folder), top = find_top(folder, arena);
    enum ht_status status = HT_OK;
    *rules = NULL;
    *path = top > 0 && top < len ? folder + top + 1 : "";
    for (size_t at = top; status == HT_OK && top > 0 && at < len;) {
        const char *here = arena_strndup(arena, folder, at);
        const int fd = open(here, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return ht_fail_errno(err, errno, "cannot open %s", here);
        status = ignore_read(arena, *rules, fd, at > top ? here + top + 1 : "",
                             rules, err);
        close(fd);
        if (status != HT_OK)
            return ht_wrap(err, status, "%s", here);
        at += 1 + strcspn(folder + at + 1, "/");
    }
    return status;
}

/* ---- asking ---- */

/* `path` below the folder of the rules. */
static bool matches(const struct rule *rule, const char *path, bool is_folder)
{
    const char *last = strrchr(path, '/');
    const size_t plain = strcspn(rule->pattern, "*?[\\");
    if (rule->folders && !is_folder)
        return false;
    if (rule->in_any && last != NULL)
        path = last + 1;
    /* Git compares the plain text first, and only then looks for wildcards: so
     * the two stars of "a**" before a slash are at a begin. */
    return strncmp(rule->pattern, path, plain) == 0 &&
           wildcard_matches(rule->pattern + plain, path + plain);
}

bool ignore_has(const struct ignore *rules, const char *path, bool is_folder)
{
    for (; rules != NULL; rules = rules->around) {
        const size_t len = strlen(rules->path);
        const char *below = path + len + (len > 0);
        for (size_t i = rules->n; i > 0; i--)
            if (matches(&rules->rules[i - 1], below, is_folder))
                return !rules->rules[i - 1].negated;
    }
    return false;
}
