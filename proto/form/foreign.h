/* foreign.h - what the readers of other tuners' files share: the file becomes
 * the tree of a native spec whose values keep their places, so that the checks
 * of the native form hold for it and their faults point into the file. */
#ifndef HT_PROTO_FORM_FOREIGN_H
#define HT_PROTO_FORM_FOREIGN_H

#include "proto/doc/diag.h"
#include "proto/doc/field.h"
#include "proto/doc/node.h"

/* A list or map that grows at its end. */
struct grown {
    struct node *node, *tail;
};

/* A member or item is a copy of the value; `at` is where the new node is said
 * to be in the file. A number is written so that it is read back exactly. */
struct grown foreign_begin(struct arena *arena, enum node_kind kind,
                           const struct node *at);
void foreign_put(struct arena *arena, struct grown *to, const char *key,
                 const struct node *value);
void foreign_put_text(struct arena *arena, struct grown *to, const char *key,
                      const char *text, const struct node *at);
void foreign_put_number(struct arena *arena, struct grown *to, const char *key,
                        double value, const struct node *at);

/* The same of a place that may be absent: then nothing is put. */
void foreign_move(struct arena *arena, struct grown *to, const char *key,
                  struct place at);

/* Rows of a table: known there and without effect here, with a warning. */
field_function foreign_no_effect;

/* A number as a number or as a text that holds one; else an error. */
bool foreign_number(const struct field_reader *reader, struct place at,
                    double *value);

/* Warns that a metric which the trainer gives to `theirs` does not come here,
 * and says what to do. */
void foreign_warn_of_reports(const struct field_reader *reader,
                             struct place metric, const char *theirs);

/* Whether the text stays as it is when a trial starts; false after an error:
 * it holds "${NAME}" of a member of `space`, or is no text. */
bool foreign_is_literal(const struct field_reader *reader, struct place at,
                        const struct node *space);

/* Puts the name of a study, other characters than those of names replaced; it
 * is `display` too, as it was written. */
void foreign_put_name(struct arena *arena, struct grown *to, struct place at);

struct foreign {
    const struct node *root;   /* of the file */
    const struct node *native; /* made of it */
    struct strings args;       /* behind the command, or behind the image's */
    const char *display;       /* NULL: the name */
};

/* The job. One without a command is complete, too. A parameter that no word
 * mentions is not passed. NULL when there was any error. */
struct job *foreign_finish(const struct foreign *foreign, struct diag *diag);

/* ---- readers; the contract is native_read()'s ---- */

/* W&B's sweep.yaml. */
struct job *wandb_read(const struct node *root, struct diag *diag);
/* An Experiment of Katib. */
struct job *katib_read(const struct node *root, struct diag *diag);
/* Hydra's configuration with its Optuna sweeper. */
struct job *hydra_read(const struct node *root, struct diag *diag);

/* Whether the document has the marks of each. */
bool wandb_is_sweep(const struct node *root);
bool katib_is_experiment(const struct node *root);
bool hydra_is_sweep(const struct node *root);

#endif
