/* optuna.h - Optuna's distributions, from its files and from Hydra's. */
#ifndef HT_PROTO_FORM_OPTUNA_H
#define HT_PROTO_FORM_OPTUNA_H

#include "proto/form/foreign.h"

/* The search space of `optuna ask`: distributions by name. */
bool optuna_is_space(const struct node *root);
/* The `parameters` of a native spec; NULL after errors. */
const struct node *optuna_parameters(const struct node *root,
                                     struct diag *diag);

struct optuna_range {
    struct place low, high, step; /* no step: NULL node */
    bool whole, log;
};
/* Puts a parameter; `at` is its own place. */
void optuna_put_range(const struct field_reader *reader, struct grown *space,
                      const char *name, struct place at,
                      const struct optuna_range *range);
/* The same of a list of choices. */
void optuna_put_choices(const struct field_reader *reader, struct grown *space,
                        const char *name, struct place choices);

#endif
