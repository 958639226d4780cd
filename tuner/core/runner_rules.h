/* runner_rules.h - what a runner can do and its admin allows, from its hello
 * message: `rules` of proto/README.md section 4. */
#ifndef HT_TUNER_CORE_RUNNER_RULES_H
#define HT_TUNER_CORE_RUNNER_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"

struct runner_gpu {
    const char *name;  /* as CUDA_VISIBLE_DEVICES has it at the runner */
    const char *id;    /* the same at all runners of the machine */
    const char *model; /* "": not known */
    int64_t memory;    /* bytes, 0: not known */
};

struct runner_rules {
    const char *machine; /* its id, see proto/base/machine_id.h; NULL: not
                            known */
    struct pairs labels; /* of --label */
    size_t n_gpus;       /* that it may give */
    const struct runner_gpu *gpus;
    bool splits_gpus;                /* can give a part of one */
    bool images;                     /* runs images, and only these */
    struct strings allow;            /* names of runner/base/rules.h */
    struct strings volume_roots;     /* volumes may lie below */
    struct strings secrets;          /* files it has */
    struct strings secret_variables; /* ... and variables */
    struct strings credentials;      /* service accounts; "default": of jobs
                                        that name none */
    bool gcs;                        /* has a folder for gs:// */
    bool gcs_credentials;            /* its processes have their own access */
    bool share_gpus;                 /* a GPU may have several trials */
    bool outputs;                    /* sends those of trials when asked */
    bool elastic;                    /* its slots are made on demand */
    double cpus;                     /* of the machine; 0: not known */
    int64_t memory;                  /* bytes; 0: not known */
};

/* The object as text to be stored, in the arena; "{}" without one.
 * HT_INVALID  it is no object, or too long */
enum ht_status runner_rules_text(struct arena *arena, const struct node *map,
                                 const char **text, struct ht_error *err);
/* The strings are in the arena. Absent and malformed members are left empty;
 * all are when `json` is no object. */
struct runner_rules runner_rules_read(struct arena *arena, const char *json);

/* Exact names; false for an empty list. */
bool runner_rules_have(const struct strings *names, const char *name);

#endif
