/* wandb.h - what the parts of W&B's sweep form share: the places of its fields
 * and the words that stand for its parameters. */
#ifndef HT_PROTO_FORM_WANDB_H
#define HT_PROTO_FORM_WANDB_H

#include "proto/base/limits.h"
#include "proto/form/foreign.h"

/* What stands for one parameter of the top level in a command. */
struct wandb_word {
    const char *name;
    const char *value; /* "${lr}", or a map of Python with such references */
    const char *json;  /* the same as JSON */
    const char *flag;  /* "--name" of a true flag, nothing of a false one;
                          NULL: the parameter is no flag */
};

struct wandb {
    struct field_reader reader;
    struct place program, command, method, metric_name, target, name,
        description, parameters, early, run_cap;
    int algorithm, minimize;
    bool json;     /* values are written as JSON, not as Python */
    bool no_flags; /* ${args_no_boolean_flags} */
    struct grown space;
    size_t n_words;
    struct wandb_word words[HT_MAX_PARAMETERS];
};

/* Reads `parameters` into the space and the words. */
void wandb_read_parameters(struct wandb *wandb);

#endif
