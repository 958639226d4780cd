#include "proto/job/container_words.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"

static bool is_alnum(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* A letter, digit or _, then also . and -; at most HT_MAX_NAME of them. */
static bool is_plain(const char *word, size_t len)
{
    if (len == 0 || len > HT_MAX_NAME || (!is_alnum(word[0]) && word[0] != '_'))
        return false;
    for (size_t i = 1; i < len; i++)
        if (!is_alnum(word[i]) && strchr("_.-", word[i]) == NULL)
            return false;
    return true;
}

/* ---- images ---- */

static const char *digest_fault(const char *digest)
{
    size_t algorithm = strspn(digest, "abcdefghijklmnopqrstuvwxyz0123456789");
    const char *hex = digest + algorithm + 1;
    if (algorithm == 0 || digest[algorithm] != ':')
        return "has no digest such as sha256:... behind the @";
    size_t n = strspn(hex, "0123456789abcdef");
    return n >= 32 && hex[n] == '\0' ? NULL
                                     : "has a digest that is no hexadecimal "
                                       "number";
}

/* HOST or HOST:PORT, told from a name by a dot, a port or being localhost. */
static bool is_registry(const char *part, size_t len)
{
    return memchr(part, '.', len) || memchr(part, ':', len) ||
           (len == 9 && strncmp(part, "localhost", len) == 0);
}

static const char *registry_fault(const char *part, size_t len)
{
    const char *colon = memchr(part, ':', len);
    size_t host = colon ? (size_t)(colon - part) : len;
    bool good = host > 0 && is_alnum(part[0]) && is_alnum(part[host - 1]);
    for (size_t i = 0; i < host; i++)
        good &= is_alnum(part[i]) || part[i] == '.' || part[i] == '-';
    if (colon) {
        size_t digits = strspn(colon + 1, "0123456789");
        good &= digits >= 1 && digits <= 5 && host + 1 + digits == len;
    }
    return good ? NULL : "names no registry before its first /";
}

static const char *name_fault(const char *part, size_t len)
{
    if (len == 0)
        return "has an empty part between slashes";
    for (size_t i = 0; i < len; i++)
        if (isupper((unsigned char)part[i]))
            return "has capital letters in its name, which no registry takes";
    if (!is_alnum(part[0]) || !is_alnum(part[len - 1]))
        return "has a part that does not begin and end with a letter or digit";
    return memchr(part, ':', len) ? "has a tag before its last part" : NULL;
}

static const char *path_fault(const char *path, size_t len)
{
    const char *end = path + len;
    for (const char *part = path;;) {
        const char *slash = memchr(part, '/', (size_t)(end - part));
        size_t n = (size_t)((slash ? slash : end) - part);
        const char *fault = part == path && slash && is_registry(part, n)
                                ? registry_fault(part, n)
                                : name_fault(part, n);
        if (fault || slash == NULL)
            return fault;
        part = slash + 1;
    }
}

static const char *image_byte_fault(const char *image)
{
    for (const char *c = image; *c; c++) {
        if (strchr("$<>{}[]", *c))
            return "has a placeholder that was not filled in";
        if (!is_alnum(*c) && strchr("._-/:@", *c) == NULL)
            return "has a character that no image's name has";
    }
    if (strstr(image, "://"))
        return "has a scheme: leave it out";
    return is_alnum(image[0]) || image[0] == '/'
               ? NULL
               : "must begin with a letter or digit";
}

static const char *file_fault(const char *path)
{
    const size_t len = strlen(path);
    if (strstr(path, "//") || strstr(path, "/./") || strstr(path, "/../") ||
        path[len - 1] == '/' || path[len - 1] == '.' || strchr(path, ':'))
        return "is no plain path of a file or folder";
    return NULL;
}

const char *container_image_fault(const char *image)
{
    size_t len = strlen(image);
    if (len == 0)
        return "is empty";
    if (len > HT_MAX_IMAGE)
        return "is longer than 512 bytes";
    const char *fault = image_byte_fault(image);
    if (fault)
        return fault;
    if (image[0] == '/')
        return file_fault(image);
    const char *at = strchr(image, '@');
    if (at) {
        fault = digest_fault(at + 1);
        len = (size_t)(at - image);
    }
    const char *slash = memrchr(image, '/', len);
    const char *last = slash ? slash + 1 : image;
    const char *tag = memchr(last, ':', (size_t)(image + len - last));
    if (tag && fault == NULL &&
        !is_plain(tag + 1, (size_t)(image + len - tag) - 1))
        fault = "has no tag behind the colon that a registry takes";
    return fault ? fault : path_fault(image, tag ? (size_t)(tag - image) : len);
}

/* ---- volumes ---- */

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Moves to the next component of a path; its length, 0 at the end. Empty ones
 * and "." lead nowhere. */
static size_t next_part(const char **at, const char *end)
{
    for (;;) {
        while (*at < end && **at == '/')
            ++*at;
        const char *slash = memchr(*at, '/', (size_t)(end - *at));
        size_t len = (size_t)((slash ? slash : end) - *at);
        if (len != 1 || **at != '.')
            return len;
        *at += len;
    }
}

static bool goes_up(const char *path, const char *end)
{
    for (size_t len; (len = next_part(&path, end)) > 0; path += len)
        if (len == 2 && strncmp(path, "..", 2) == 0)
            return true;
    return false;
}

static const char *target_fault(const char *target, const char *end)
{
    static const char *const own[] = {"proc", "sys", "dev", "hypertune"};
    size_t len = next_part(&target, end);
    if (len == 0)
        return "would cover the container's whole root";
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == len && strncmp(target, own[i], len) == 0)
            return "would cover /proc, /sys, /dev or /hypertune";
    return NULL;
}

struct volume {
    const char *target, *end; /* of the target */
    const char *option;       /* NULL: none */
};

static bool split_volume(const char *text, struct volume *volume)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return false;
    volume->target = colon + 1;
    volume->end = volume->target + strcspn(volume->target, ":");
    volume->option = *volume->end ? volume->end + 1 : NULL;
    return true;
}

const char *container_volume_fault(const char *text)
{
    struct volume volume;
    if (has_control(text))
        return "has a control character";
    if (!split_volume(text, &volume))
        return "is not HOST:TARGET";
    const char *host_end = volume.target - 1;
    if (text[0] != '/' || volume.target[0] != '/')
        return "needs an absolute path on both sides of the colon";
    if (strlen(text) > 4096)
        return "is longer than 4096 bytes";
    if (volume.option && strcmp(volume.option, "ro") != 0 &&
        strcmp(volume.option, "rw") != 0)
        return "may end in :ro or :rw, in nothing else";
    if (goes_up(text, host_end) || goes_up(volume.target, volume.end))
        return "has .. in a path";
    return target_fault(volume.target, volume.end);
}

bool container_same_target(const char *a, const char *b)
{
    struct volume x, y;
    if (!split_volume(a, &x) || !split_volume(b, &y))
        return false;
    for (;;) {
        size_t n = next_part(&x.target, x.end), m = next_part(&y.target, y.end);
        if (n != m || strncmp(x.target, y.target, n) != 0)
            return false;
        if (n == 0)
            return true;
        x.target += n;
        y.target += m;
    }
}

/* ---- names ---- */

const char *container_user_fault(const char *user)
{
    const char *colon = strchr(user, ':');
    size_t len = colon ? (size_t)(colon - user) : strlen(user);
    bool good = is_plain(user, len) &&
                (colon == NULL || is_plain(colon + 1, strlen(colon + 1)));
    return good ? NULL : "is no user: write UID, UID:GID or a name";
}

const char *container_network_fault(const char *network)
{
    return is_plain(network, strlen(network))
               ? NULL
               : "is no network: write none, host or a name";
}

const char *container_machine_fault(const char *machine)
{
    return is_plain(machine, strlen(machine))
               ? NULL
               : "is no machine type: write a name such as n1-standard-4";
}

const char *container_secret_fault(const char *file)
{
    return is_plain(file, strlen(file)) ? NULL
                                        : "must be a plain file name, no path";
}

const char *container_account_fault(const char *account)
{
    size_t len = strlen(account);
    bool good = len > 0 && len <= HT_MAX_NAME && is_alnum(account[0]);
    for (const char *c = account; *c; c++)
        good &= is_alnum(*c) || strchr("_.-+@", *c);
    return good ? NULL
                : "is no service account: write its address, such as "
                  "trainer@project.iam.gserviceaccount.com";
}

const char *container_secret_variable_fault(const char *name)
{
    size_t len = strlen(name);
    for (const char *c = name; *c; c++)
        if (!is_alnum(*c) && *c != '_')
            len = 0;
    return len > 0 && len <= HT_MAX_NAME ? NULL
                                         : "must be letters, digits and _ only";
}
