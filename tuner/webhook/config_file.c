#include "tuner/webhook/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "tuner/base/log.h"

enum { FILE_BYTES = 65536 };

struct webhook_file {
    char *folder;
    struct arena *arena; /* of the rules */
    struct webhook_rules rules;
    char *complaint; /* NULL: none */
    bool missing;    /* it was not there at the last look */
};

/* What a look saw. */
struct sight {
    struct arena *arena;
    struct webhook_rules rules;
    enum ht_status status;
    struct ht_error err;
};

/* HT_NOT_FOUND: there is none. */
static enum ht_status read_file(const char *folder, char text[FILE_BYTES + 1],
                                struct ht_error *err)
{
    struct text path = {0};
    struct stat info;
    text_printf(&path, "%s/webhooks.json", folder);
    const int fd =
        open(path.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int code = errno;
    text_free(&path);
    if (fd < 0)
        return code == ENOENT
                   ? ht_fail(err, HT_NOT_FOUND, "there is no webhooks.json")
                   : ht_fail_errno(err, code, "cannot be read");
    const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const ssize_t n = regular ? read(fd, text, FILE_BYTES + 1) : -1;
    close(fd);
    if (n < 0 || n > FILE_BYTES)
        return ht_fail(err, HT_INVALID, "is no file of at most %d bytes",
                       FILE_BYTES);
    text[n] = '\0';
    return strlen(text) == (size_t)n
               ? HT_OK
               : ht_fail(err, HT_INVALID, "has a NUL in it");
}

static struct sight look(const char *folder)
{
    char text[FILE_BYTES + 1];
    struct sight sight = {.arena = arena_new()};
    sight.status = read_file(folder, text, &sight.err);
    if (sight.status == HT_OK)
        sight.status = webhook_rules_read(sight.arena, folder, text,
                                          &sight.rules, &sight.err);
    return sight;
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool are_same(const struct webhook_rules *a,
                     const struct webhook_rules *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const struct webhook *one = &a->items[i], *other = &b->items[i];
        if (!is_same(one->name, other->name) ||
            !is_same(one->url, other->url) ||
            !is_same(one->secret, other->secret) ||
            !is_same(one->studies, other->studies) || one->on != other->on ||
            one->named != other->named || one->local != other->local)
            return false;
    }
    return a->n == b->n;
}

/* The sight's arena takes the place of ours where the rules are others. */
static bool adopt(struct webhook_file *file, struct sight *sight)
{
    const bool others = !are_same(&file->rules, &sight->rules);
    if (others) {
        struct arena *old = file->arena;
        file->arena = sight->arena;
        file->rules = sight->rules;
        sight->arena = old;
    }
    if (others || file->complaint != NULL)
        log_event(LOG_INFO, "webhooks.read", "webhooks=%zu", file->rules.n);
    free(file->complaint);
    file->complaint = NULL;
    return others;
}

static void complain(struct webhook_file *file, const struct ht_error *err)
{
    if (is_same(file->complaint, err->text))
        return;
    free(file->complaint);
    file->complaint = ht_xstrdup(err->text);
    log_event(LOG_ERROR, "webhooks.wrong", "reason=\"%s\"", err->text);
}

bool webhook_file_look(struct webhook_file *file)
{
    struct sight sight = look(file->folder);
    const bool missing = sight.status == HT_NOT_FOUND;
    bool others = false;
    /* An editor may take the old file away before it has the new one there. */
    if (sight.status == HT_OK || (missing && file->missing))
        others = adopt(file, &sight);
    else if (!missing)
        complain(file, &sight.err);
    file->missing = missing;
    arena_free(sight.arena);
    return others;
}

const struct webhook_rules *webhook_file_rules(const struct webhook_file *file)
{
    return &file->rules;
}

const char *webhook_file_complaint(const struct webhook_file *file)
{
    return file->complaint;
}

struct webhook_file *webhook_file_new(const char *folder)
{
    struct webhook_file *file = ht_xcalloc(1, sizeof *file);
    file->folder = ht_xstrdup(folder);
    file->arena = arena_new();
    return file;
}

void webhook_file_free(struct webhook_file *file)
{
    if (file == NULL)
        return;
    arena_free(file->arena);
    free(file->complaint);
    free(file->folder);
    free(file);
}
