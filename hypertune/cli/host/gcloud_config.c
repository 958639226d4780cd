#include "hypertune/cli/host/gcloud_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypertune/cli/frame/server.h"

enum { LINE_BYTES = 1024 };

/* gcloud asks the network again when its note is ten minutes old; this is
 * 2100. */
static const time_t far_future = 4102444800;

/* Without the blanks at both ends. */
static char *trim(char *text)
{
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    size_t len = strlen(text);
    while (len > 0 && strchr(blanks, text[len - 1]) != NULL)
        len--;
    text[len] = '\0';
    return text;
}

static const char *active_name(struct arena *arena, const char *folder)
{
    char line[LINE_BYTES] = "";
    FILE *file = fopen(arena_printf(arena, "%s/active_config", folder), "re");
    if (file != NULL && fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    const char *name = trim(line);
    return name[0] != '\0' ? arena_strdup(arena, name) : "default";
}

/* The value when a line "key = value" has that key; changes the line. */
static const char *value_of(char *line, const char *key)
{
    char *equals = strpbrk(line, "=:");
    if (equals == NULL)
        return NULL;
    *equals = '\0';
    return strcmp(trim(line), key) == 0 ? trim(equals + 1) : NULL;
}

const char *gcloud_config_get(struct arena *arena, const char *folder,
                              const char *name, const char *section,
                              const char *key)
{
    if (name == NULL)
        name = active_name(arena, folder);
    if (strchr(name, '/') != NULL)
        return NULL;
    FILE *file = fopen(
        arena_printf(arena, "%s/configurations/config_%s", folder, name), "re");
    if (file == NULL)
        return NULL;
    const char *title = arena_printf(arena, "[%s]", section);
    const char *found = NULL;
    bool within = false;
    for (char buffer[LINE_BYTES]; fgets(buffer, sizeof buffer, file);) {
        char *line = trim(buffer);
        if (line[0] == '[')
            within = strcmp(line, title) == 0;
        const char *value = within ? value_of(line, key) : NULL;
        if (value != NULL && value[0] != '\0')
            found = arena_strdup(arena, value);
    }
    fclose(file);
    return found;
}

/* The note that this is no machine of Google's. It is written in place, never
 * emptied: a gcloud may be reading it. */
static enum ht_status write_note(const char *path, struct ht_error *err)
{
    static const char note[] = "False";
    const struct timespec times[2] = {{.tv_sec = far_future},
                                      {.tv_sec = far_future}};
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool done =
        fd >= 0 && write(fd, note, strlen(note)) == (ssize_t)strlen(note) &&
        ftruncate(fd, (off_t)strlen(note)) == 0 && futimens(fd, times) == 0;
    int cause = errno;
    if (fd >= 0)
        close(fd);
    return done ? HT_OK : ht_fail_errno(err, cause, "cannot write %s", path);
}

enum ht_status gcloud_config_make(struct arena *arena, const char *state,
                                  const char **folder, struct ht_error *err)
{
    const char *made = arena_printf(arena, "%s/gcloud", state);
    enum ht_status status = cli_server_make_folder(arena, made, err);
    if (status == HT_OK)
        status = write_note(arena_printf(arena, "%s/gce", made), err);
    if (status == HT_OK)
        *folder = made;
    return status;
}
