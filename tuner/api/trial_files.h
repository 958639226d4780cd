/* trial_files.h - the files that a trial has left in the store: its outputs,
 * once they were asked for (trial_fetch.h), and its checkpoints. Core thread.
 */
#ifndef HT_TUNER_API_TRIAL_FILES_H
#define HT_TUNER_API_TRIAL_FILES_H

#include "tuner/core/request.h"

/* HTTP: replies with the trees of the trial, and where its outputs are. */
request_handler trial_files;
/* HTTP: finds the tree of the path, which the trial has, for the store to
 * answer from: req->found. */
request_handler trial_find_tree;

#endif
