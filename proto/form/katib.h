/* katib.h - what the parts of Katib's form share: the places of an Experiment's
 * fields. */
#ifndef HT_PROTO_FORM_KATIB_H
#define HT_PROTO_FORM_KATIB_H

#include "proto/form/foreign.h"

/* In a word: a parameter of the trial, up to "}". */
#define KATIB_REFERENCE "${trialParameters."

/* A file or folder that the trainer's words name, and what they name in its
 * place. */
struct katib_file {
    const char *theirs; /* NULL: there is none */
    const char *ours;
    const char *below; /* what is read is this path below it; "": itself */
    bool has_more;     /* words may name what is below it, too */
    bool is_named;     /* some word has it */
};

struct katib {
    struct field_reader reader;
    struct arena *arena;
    struct place name, labels, namespace, spec;
    int minimize; /* of enum katib_goal */
    struct place goal_type, goal, metric, additional, strategies;
    struct place algorithm, algorithm_settings;
    struct place trials, parallel, max_failed;
    struct place parameters, early, early_settings;
    struct place collector, file, format, filters;
    struct place trial_parameters, trial_spec, primary, primary_labels;
    struct place success, failure;
    bool
        has_own_ends; /* ... which are no conditions of a Job's or operator's */
    struct katib_file metrics_file;
    bool reads_output; /* metrics are in what the trainer prints */
    bool is_one_pod;   /* each trial is a pod, not several replicas */
    bool in_pod;       /* ... of Kubernetes: katib_put_pod() */
    struct grown native, space;
    struct grown used;      /* parameters that the trial's words have */
    struct grown container; /* how containers are set up */
    struct grown volumes;   /* folders of the machine */
    struct strings args;    /* of the image's own entry point */
};

/* Puts a number, be it one or a text that holds one; else an error. A place
 * without a node puts nothing. */
void katib_put_number(struct katib *katib, struct grown *to, const char *key,
                      struct place at);

/* An error: "WHAT cannot be taken over yet". */
void katib_refuse(const struct field_reader *reader, struct place at,
                  const char *what);

/* Warns of all members of the map but those named; no map has none. */
void katib_warn_of_others(const struct katib *katib, struct place at,
                          const char *const known[]);

/* The value that hyperband gives to the parameter; without a node: none. */
struct place katib_resource(const struct katib *katib, const char *parameter);

/* Puts the algorithm, the counts and the early stopping, after the space. */
void katib_put_search(struct katib *katib);

/* Puts what the trial template runs, the file of metrics being planned. */
void katib_put_trial(struct katib *katib);

/* The container that the pod of the object at `at` runs, whose member `path`
 * ("": the object itself) is the pod's template; without a node after an error.
 * What the pod has beside it is put, named or refused. */
struct place katib_find_container(struct katib *katib, struct place at,
                                  const char *path, bool master);

/* Whether the pod, or its container, has what only a cluster can give. */
bool katib_needs_pod(const struct katib *katib, struct place pod,
                     const struct node *container);
/* Puts the section kubernetes: the pod's spec and what its template says of it,
 * without what katib_put_container() puts of the primary container. */
void katib_put_pod(struct katib *katib, struct place template,
                   struct place spec, const struct node *primary);

/* Puts the container's image, words and resources; those of the master are the
 * job's own. */
void katib_put_container(struct katib *katib, struct place at,
                         struct grown *out, bool master);

/* Whether a trial becomes an object of a cluster: of a kind that cannot run
 * here otherwise, with conditions of its own, or with pods that need a cluster.
 */
bool katib_wants_template(const struct katib *katib, bool runs_here);
/* Puts it as the section kubernetes. */
void katib_put_template(struct katib *katib);
/* Puts the words of the trial's container, where they have to be others than
 * those in the template. */
void katib_put_words(struct katib *katib, struct place container);
/* The text with its trial parameters as they are here. */
const struct node *katib_convert_text(struct katib *katib, struct place at);

/* Where the word has the file's path; NULL: it has not. */
const char *katib_names_file(const struct katib_file *file, const char *word);

/* How metrics are collected: what the words have to name, then all of it. */
void katib_plan_metrics(struct katib *katib);
void katib_put_metrics(struct katib *katib);

#endif
