/* options.h - the settings of hypertuned: defaults, then HYPERTUNED_*
 * variables, then flags, all from one table that also prints --help. */
#ifndef HT_TUNER_OPTIONS_H
#define HT_TUNER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/flags.h"
#include "proto/base/text.h"

enum { OPTIONS_LOGIN_BYTES = 8192, OPTIONS_PATH_BYTES = 4096 };

struct options {
    const char *data;           /* directory; required */
    const char *listen;         /* HOST:PORT of HTTP, port 0: any */
    const char *report_listen;  /* tcp://HOST:PORT, port 0: any */
    const char *control_listen; /* the same; NULL: one above the report port */
    const char *auth;           /* "token" or "none" */
    const char *runner;         /* engines of local runners, or "none" */
    int64_t slots;           /* of each local runner; 0: the runner decides */
    const char *gpus;        /* of the first one; NULL: the runner decides */
    bool share;              /* the rest is for local runners as it is, */
    const char *volume_root; /* NULL: not given */
    const char *gcs_root;
    const char *secrets;
    const char *credentials;
    const char *allow;
    const char *docker_host;
    const char *mlflow;       /* URL; NULL: none */
    const char *key_file;     /* of the secrets at rest; NULL: none */
    const char *old_key_file; /* what sealed them before; NULL: none */
    const char *mlflow_login; /* file of its token or password; NULL: none */
    char mlflow_own_login[OPTIONS_LOGIN_BYTES]; /* that itself, or "" */
    int64_t max_page;         /* elements in a page of a list; 0: the default */
    const char *budget;       /* see budget_set(); NULL: the defaults */
    const char *behind_proxy; /* addresses of proxies; NULL: none */
    const char *proxy_user_header; /* names a person; NULL: none */
    const char *proxy_role;        /* of such people */
    const char *public_name;       /* "https://HOST[:PORT],..."; NULL: none */
    const char *tls;               /* DIR of `hypertune tls init`; NULL: none */
    const char *tls_cert, *tls_key; /* PEM files; NULL: no TLS */
    const char *tls_clients; /* PEM file of the CA whose certificates clients
                                need; NULL: they need none */
    const char *tls_crl;     /* of those revoked, may not exist; NULL: none */
    bool insecure;           /* plain listeners off loopback are wanted */
    const char *backups;     /* folder, or "off"; NULL: in data */
    int64_t backup_every_ms; /* 0: none are scheduled */
    bool on_demand;          /* started by a command for its user */
    int64_t idle_exit_ms;    /* end after this long idle; 0: never */
    bool verbose;            /* log debug events */
    char tls_files[5][OPTIONS_PATH_BYTES]; /* what the paths above may point
                                              to */
};

/* Strings of *options point into argv, *options itself, the environment or
 * constants. When
 * --help or --version was asked, it is appended to `shown` and the options
 * stay as they were.
 * HT_INVALID  an unknown flag, a missing or wrong value, no --data */
enum ht_status options_read(const struct flags_source *source,
                            struct options *options, struct text *shown,
                            struct ht_error *err);

/* Splits "HOST:PORT" or "[V6]:PORT" (brackets removed) into `host` of
 * OPTIONS_HOST_BYTES and *port. HT_INVALID when it is not one. */
enum { OPTIONS_HOST_BYTES = 256 };
enum ht_status options_split_address(const char *address,
                                     char host[OPTIONS_HOST_BYTES], int *port,
                                     struct ht_error *err);

/* Takes the next engine off a list such as "process,docker", moving *list
 * behind it; false when there is no further one, or it is too long. */
enum { OPTIONS_ENGINE_BYTES = 16, OPTIONS_ENGINES = 4 };
bool options_next_engine(const char **list, char engine[OPTIONS_ENGINE_BYTES]);

#endif
