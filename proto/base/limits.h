/* limits.h - every bound that documents, messages and names must respect.
 *
 * A limit is checked where a value enters the program, before memory is taken
 * for it. They are listed for users in proto/README.md. */
#ifndef HT_PROTO_BASE_LIMITS_H
#define HT_PROTO_BASE_LIMITS_H

enum {
    HT_MAX_NAME = 128,            /* bytes: study, parameter, metric names */
    HT_MAX_LABEL = 1024,          /* bytes: one categorical value */
    HT_MAX_CHECKPOINT = 4096,     /* bytes: checkpoint_path of a report */
    HT_MAX_REASON = 512,          /* bytes: why a state was entered */
    HT_MAX_DEPTH = 64,            /* nesting of a JSON or YAML document */
    HT_MAX_PARAMETERS = 64,       /* of one study */
    HT_MAX_CATEGORIES = 1000,     /* values of one parameter */
    HT_MAX_FORMER = 10000,        /* values that it had before changes */
    HT_MAX_METRICS = 16,          /* of one study, and of one report */
    HT_MAX_TRIALS = 100000,       /* of one study */
    HT_MAX_PRIORS = 8,            /* earlier studies that one starts from */
    HT_MAX_WEBHOOKS = 32,         /* of one server, so of one study, too */
    HT_MAX_PARALLEL = 1000,       /* trials of one study at once */
    HT_MAX_RETRIES = 100,         /* starts after the first of one trial */
    HT_MAX_LOST = 10,             /* lost attempts in a row, starts repeated */
    HT_MAX_LOST_WORK = 3,         /* ... that had begun: so many end a trial */
    HT_MAX_REPORTS = 100000,      /* records of one replica before thinning */
    HT_MAX_ARGS = 4096,           /* arguments of one command */
    HT_MAX_ENV = 1024,            /* variables of one command */
    HT_MAX_WORD = 131071,         /* bytes: one of either; Linux's limit */
    HT_MAX_IMAGE = 512,           /* bytes: reference of an image */
    HT_MAX_REPLICAS = 1000,       /* of one trial, all types together */
    HT_MAX_PIDS = 4194304,        /* processes of one container */
    HT_MAX_SPEC = 1024 * 1024,    /* bytes: JSON body of a job */
    HT_MAX_YAML = 256 * 1024,     /* bytes: YAML document */
    HT_MAX_MESSAGE = 1024 * 1024, /* bytes: report or control message */
    HT_MAX_REPORT_LINE = 8192,    /* bytes: one record of reports.jsonl */
    HT_MAX_HEADER = 8192,         /* bytes: HTTP request line and headers */
    HT_LOG_SEGMENT = 1024 * 1024, /* bytes: one segment of a replica's log */
    HT_LOG_SEGMENTS = 10 /* kept per stream: the first half and the last */
};

/* Ids of trials rise further than that: a restore skips some. */
#define HT_MAX_TRIAL_ID 9007199254740991
#define HT_MAX_GRID 1000000           /* points a grid may have */
#define HT_MAX_STEPS 9007199254740992 /* of a trial; exact as a double */

#endif
