/* rep_server PORT STORE [MODE] - a report address for tests, on the real nng.
 *
 * Port 0 takes any; prints "ready PORT". STORE is its database: every record
 * it had not, one a line, synced with the answer in the sense that matters
 * here: written before. A new server on the same STORE continues where the old
 * one was killed. Ends with its stdin, so that no test leaves one behind.
 * MODE: ok (default), silent, gone, denied, invalid, retry or busy (once, then
 * ok), thin=K. It is a program because nng may not be in a process that
 * forks. */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>

enum { MAX_WRITERS = 64, MAX_SEQ = 100000 };

struct writer {
    char name[17];
    int have; /* contiguous */
    unsigned char *seen;
};

static struct writer writers[MAX_WRITERS];
static size_t n_writers;
static FILE *store;

static struct writer *find_writer(const char *name)
{
    for (size_t i = 0; i < n_writers; i++)
        if (strcmp(writers[i].name, name) == 0)
            return &writers[i];
    if (n_writers == MAX_WRITERS)
        abort();
    struct writer *fresh = &writers[n_writers++];
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    fresh->seen = calloc(MAX_SEQ, 1);
    return fresh;
}

/* False when the record was there already. */
static int note(const cJSON *record)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(record, "w");
    const cJSON *seq = cJSON_GetObjectItemCaseSensitive(record, "n");
    if (!cJSON_IsString(name) || !cJSON_IsNumber(seq) || seq->valueint < 1 ||
        seq->valueint >= MAX_SEQ)
        abort();
    struct writer *writer = find_writer(name->valuestring);
    int is_new = !writer->seen[seq->valueint];
    writer->seen[seq->valueint] = 1;
    while (writer->seen[writer->have + 1])
        writer->have++;
    return is_new;
}

static void load(const char *path)
{
    char line[16384];
    FILE *old = fopen(path, "r");
    while (old != NULL && fgets(line, sizeof line, old) != NULL) {
        cJSON *record = cJSON_Parse(line);
        note(record);
        cJSON_Delete(record);
    }
    if (old != NULL)
        fclose(old);
    store = fopen(path, "a");
    if (store == NULL)
        abort();
}

static void take(const cJSON *message, cJSON *have)
{
    const cJSON *record;
    cJSON_ArrayForEach(record,
                       cJSON_GetObjectItemCaseSensitive(message, "records"))
    {
        if (note(record)) {
            char *text = cJSON_PrintUnformatted(record);
            fprintf(store, "%s\n", text);
            free(text);
        }
        const char *name =
            cJSON_GetObjectItemCaseSensitive(record, "w")->valuestring;
        cJSON_DeleteItemFromObjectCaseSensitive(have, name);
        cJSON_AddNumberToObject(have, name, find_writer(name)->have);
    }
    fflush(store);
}

static char *answer_to(const char *data, size_t len, const char **mode)
{
    cJSON *message = cJSON_ParseWithLength(data, len);
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(message, "type");
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(message, "id");
    if (!cJSON_IsString(type) || strcmp(type->valuestring, "report") != 0)
        abort();
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddNumberToObject(answer, "v", 1);
    cJSON_AddNumberToObject(answer, "id", id->valueint);
    cJSON *have = cJSON_CreateObject();
    int is_thin = strncmp(*mode, "thin=", 5) == 0;
    if (is_thin || strcmp(*mode, "ok") == 0) {
        take(message, have);
        cJSON_AddStringToObject(answer, "status", "ok");
        cJSON_AddBoolToObject(answer, "stop", 0);
        cJSON_AddNumberToObject(answer, "thin", is_thin ? atoi(*mode + 5) : 1);
    } else {
        cJSON_AddStringToObject(answer, "status", *mode);
        cJSON_AddStringToObject(answer, "error", "as [\"told\"] {");
        cJSON_AddNumberToObject(answer, "retryMs", 100);
    }
    if (strcmp(*mode, "retry") == 0 || strcmp(*mode, "busy") == 0)
        *mode = "ok";
    cJSON_AddItemToObject(answer, "have", have);
    char *text = cJSON_PrintUnformatted(answer);
    cJSON_Delete(answer);
    cJSON_Delete(message);
    return text;
}

static int stdin_is_open(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    char byte;
    return poll(&in, 1, 0) == 0 || fread(&byte, 1, 1, stdin) == 1;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *mode = argc > 3 ? argv[3] : "ok";
    load(argv[2]);
    char url[64];
    snprintf(url, sizeof url, "tcp://127.0.0.1:%s", argv[1]);
    nng_socket rep;
    nng_listener listener;
    int port = 0;
    if (nng_rep0_open(&rep) != 0 ||
        nng_listener_create(&listener, rep, url) != 0 ||
        nng_listener_start(listener, 0) != 0 ||
        nng_socket_set_ms(rep, NNG_OPT_RECVTIMEO, 50) != 0)
        return 1;
    nng_sockaddr bound;
    if (nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &bound) == 0)
        port = (bound.s_in.sa_port & 0xFF) << 8 | bound.s_in.sa_port >> 8;
    printf("ready %d\n", port);
    fflush(stdout);
    while (stdin_is_open()) {
        char *data;
        size_t len;
        if (nng_recv(rep, &data, &len, NNG_FLAG_ALLOC) != 0)
            continue;
        if (strcmp(mode, "silent") != 0) {
            char *text = answer_to(data, len, &mode);
            nng_send(rep, text, strlen(text), 0);
            free(text);
        }
        nng_free(data, len);
    }
    return 0;
}
