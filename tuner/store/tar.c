#include "tuner/store/tar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/text.h"

/* The head of ustar; texts are cut or padded with NULs, numbers are octal. */
struct head {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
    char type, link[100], magic[6], version[2], user[32], group[32];
    char major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct head) == TAR_BLOCK, "a head is one block");

/* What 11 octal digits hold. */
#define MOST_SIZE INT64_C(077777777777)

size_t tar_padding(int64_t bytes)
{
    return (size_t)((TAR_BLOCK - bytes % TAR_BLOCK) % TAR_BLOCK);
}

static void put_text(char *field, size_t room, const char *text)
{
    const size_t len = strlen(text);
    memcpy(field, text, len < room ? len : room);
}

static void put_octal(char *field, size_t digits, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%0*llo", (int)digits,
             (unsigned long long)number);
    memcpy(field, text, digits);
}

static void put_head(struct text *out, struct head *head)
{
    unsigned sum = 0;
    memcpy(head->magic, "ustar", 6);
    memcpy(head->version, "00", 2);
    put_octal(head->uid, 7, 0);
    put_octal(head->gid, 7, 0);
    memset(head->sum, ' ', sizeof head->sum);
    const unsigned char *bytes = (const unsigned char *)head;
    for (size_t i = 0; i < sizeof *head; i++)
        sum += bytes[i];
    put_octal(head->sum, 6, sum);
    head->sum[6] = '\0';
    text_append(out, (const char *)head, sizeof *head);
}

/* --- pax --- */

/* "LENGTH KEY=VALUE\n", where the length counts its own digits. */
static void put_record(struct text *out, const char *key, const char *value)
{
    const size_t rest = strlen(key) + strlen(value) + 3;
    size_t len = rest + 1, before = 0;
    while (len != before) {
        before = len;
        len = rest + (size_t)snprintf(NULL, 0, "%zu", before);
    }
    text_printf(out, "%zu %s=%s\n", len, key, value);
}

static bool fits(const char *text, size_t room)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return len <= room;
}

static void put_records(struct text *out, const char *name,
                        const struct tree_entry *entry)
{
    char size[24];
    if (!fits(name, sizeof((struct head *)NULL)->name))
        put_record(out, "path", name);
    if (entry->target != NULL &&
        !fits(entry->target, sizeof((struct head *)NULL)->link))
        put_record(out, "linkpath", entry->target);
    snprintf(size, sizeof size, "%lld", (long long)entry->bytes);
    if (entry->bytes > MOST_SIZE)
        put_record(out, "size", size);
}

static void put_pax(struct text *out, const struct text *records,
                    const struct tar_rules *rules)
{
    static const char zeroes[TAR_BLOCK];
    struct head head = {.type = 'x'};
    put_text(head.name, sizeof head.name, "PaxHeaders/entry");
    put_octal(head.mode, 7, 0644);
    put_octal(head.size, 11, (int64_t)records->len);
    put_octal(head.mtime, 11, rules->written_s);
    put_head(out, &head);
    text_append(out, records->data, records->len);
    text_append(out, zeroes, tar_padding((int64_t)records->len));
}

/* --- an entry --- */

void tar_head(struct text *out, const struct tree_entry *entry,
              const struct tar_rules *rules)
{
    static const struct {
        char type;
        unsigned mode;
    } kinds[] = {[TREE_FILE] = {'0', 0},
                 [TREE_FOLDER] = {'5', 0755},
                 [TREE_LINK] = {'2', 0777}};
    struct head head = {.type = kinds[entry->kind].type};
    struct text name = {0}, records = {0};
    const bool is_file = entry->kind == TREE_FILE;
    text_printf(&name, "%s/%s%s", rules->folder, entry->path,
                entry->kind == TREE_FOLDER ? "/" : "");
    put_records(&records, name.data, entry);
    if (records.len > 0)
        put_pax(out, &records, rules);
    put_text(head.name, sizeof head.name, name.data);
    put_octal(head.mode, 7, is_file ? entry->mode : kinds[entry->kind].mode);
    put_octal(head.size, 11,
              is_file && entry->bytes <= MOST_SIZE ? entry->bytes : 0);
    put_octal(head.mtime, 11, rules->written_s);
    if (entry->target != NULL)
        put_text(head.link, sizeof head.link, entry->target);
    put_head(out, &head);
    text_free(&name);
    text_free(&records);
}
