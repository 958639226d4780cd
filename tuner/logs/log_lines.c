#include "tuner/logs/log_lines.h"

#include <string.h>

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

bool log_lines_next(struct log_lines *lines, size_t *len)
{
    const char *from = lines->data + lines->at;
    const size_t left = lines->len - lines->at;
    size_t room = LOG_LINE_MOST - lines->open;
    const char *end = memchr(from, '\n', left > room ? room + 1 : left);
    if (end != NULL) {
        *len = (size_t)(end - from);
        lines->at += *len + 1;
    } else if (left > room) {
        while (room > 0 && is_continuation(from[room]))
            room--;
        *len = room;
        lines->at += room;
    } else {
        lines->open += left;
        lines->at += left;
        return false;
    }
    lines->open = 0;
    return true;
}

size_t log_lines_open(const char *data, size_t len, size_t open)
{
    struct log_lines lines = {.data = data, .len = len, .open = open};
    size_t line;
    while (log_lines_next(&lines, &line))
        ;
    return lines.open;
}
