/* faults.h - what is wrong with a request, each fault with the path of its
 * member or parameter. Any thread; the list is in the request's arena. */
#ifndef HT_TUNER_ASK_FAULTS_H
#define HT_TUNER_ASK_FAULTS_H

#include "proto/base/error.h"
#include "proto/doc/diag.h"
#include "tuner/core/request.h"

/* The request's list of faults, made by the first call. */
struct diag *faults_of(struct request *req);
/* A failure (HT_OK: none) becomes a fault of the query parameter `name`, which
 * its text need not repeat. */
void faults_add(struct request *req, const char *name, enum ht_status status,
                const struct ht_error *why);
/* HT_INVALID with the first error of the list. */
enum ht_status faults_fail(const struct diag *diag, struct ht_error *err);
/* HT_OK when the request's list has no error, else as faults_fail(). */
enum ht_status faults_check(struct request *req, struct ht_error *err);

#endif
