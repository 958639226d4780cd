/* The list of what is wrong with a request. */
#include "tuner/ask/faults.h"

#include "tests/check.h"

static void a_request_has_one_list(void)
{
    struct request *req = request_new();
    CHECK(req->diag == NULL);
    struct diag *diag = faults_of(req);
    CHECK(diag != NULL && req->diag == diag && faults_of(req) == diag);
    CHECK(diag->errors == 0);
    request_free(req);
}

static void a_failure_becomes_a_fault_of_its_parameter(void)
{
    struct request *req = request_new();
    struct ht_error why;
    faults_add(req, "pageSize", HT_OK, NULL);
    CHECK(faults_of(req)->errors == 0);
    faults_add(req, "pageSize", ht_fail(&why, HT_INVALID, "is too large"),
               &why);
    faults_add(req, "filter",
               ht_fail(&why, HT_INVALID, "filter: needs a value"), &why);
    CHECK(req->diag->errors == 2);
    CHECK_TEXT(req->diag->first->path, "pageSize");
    CHECK_TEXT(req->diag->first->text, "is too large");
    CHECK_TEXT(req->diag->first->next->path, "filter");
    CHECK_TEXT(req->diag->first->next->text, "needs a value");
    request_free(req);
}

static void a_request_with_faults_fails_with_the_first(void)
{
    struct request *req = request_new();
    struct ht_error err;
    CHECK(faults_check(req, &err) == HT_OK);
    diag_warning(faults_of(req), 0, 0, "trials", "are many");
    CHECK(faults_check(req, &err) == HT_OK);
    diag_error(faults_of(req), 0, 0, "name", "is empty");
    diag_error(faults_of(req), 0, 0, "state", "is unknown");
    CHECK(faults_check(req, &err) == HT_INVALID);
    CHECK_TEXT(err.text, "name: is empty");
    request_free(req);
}

int main(void)
{
    RUN(a_request_has_one_list);
    RUN(a_failure_becomes_a_fault_of_its_parameter);
    RUN(a_request_with_faults_fails_with_the_first);
    return check_done();
}
