/* Conditions of Kubernetes objects, in Katib's expressions. */
#include <string.h>

#include "proto/base/arena.h"
#include "proto/doc/node.h"
#include "proto/job/kube_condition.h"
#include "tests/check.h"

#define OF(type) "status.conditions.#(type==\"" type "\")#|#(status==\"True\")#"
/* The objects of operators, as they are at their end. */
#define ENDED(type, status)                                                    \
    "{\"status\":{\"conditions\":[{\"type\":\"Created\",\"status\":\"True\","  \
    "\"reason\":\"a\"},{\"type\":\"" type "\",\"status\":\"" status            \
    "\",\"reason\":\"b\"}]}}"
#define PHASE(phase) "{\"status\":{\"phase\":\"" phase "\",\"reason\":\"b\"}}"

/* `reason` of what makes it true; NULL: it is false. */
static const struct {
    const char *object, *expression, *reason;
} cases[] = {
    /* Katib's defaults, and its examples of Job, MPIJob and TrainJob */
    {ENDED("Complete", "True"), OF("Complete"), "b"},
    {ENDED("Complete", "False"), OF("Complete"), NULL},
    {ENDED("Complete", "True"), OF("Failed"), NULL},
    {ENDED("Failed", "True"), OF("Failed"), "b"},
    {ENDED("Succeeded", "True"), OF("Succeeded"), "b"},
    {ENDED("Succeeded", "Unknown"), OF("Succeeded"), NULL},
    {"{\"status\":{}}", OF("Failed"), NULL},
    {"{}", OF("Failed"), NULL},
    /* its PipelineRun of Tekton */
    {ENDED("Succeeded", "False"),
     "status.conditions.#(type==\"Succeeded\")#|#(status==\"False\")#", "b"},
    {ENDED("Succeeded", "True"),
     "status.conditions.#(type==\"Succeeded\")#|#(status==\"False\")#", NULL},
    /* its Workflow of Argo */
    {PHASE("Succeeded"), "status.[@this].#(phase==\"Succeeded\")#", "b"},
    {PHASE("Running"), "status.[@this].#(phase==\"Succeeded\")#", NULL},
    {PHASE("Failed"), "status.[@this].#(phase==\"Failed\")#", "b"},
    {"{}", "status.[@this].#(phase==\"Failed\")#", NULL},
    /* other words of the same syntax */
    {ENDED("Failed", "True"), "status.conditions.1", "b"},
    {ENDED("Failed", "True"), "status.conditions.2", NULL},
    {ENDED("Failed", "True"), "status.conditions.#(type==\"Failed\")", "b"},
    {ENDED("Failed", "True"), "status.conditions.#(type!=\"Failed\")", "a"},
    {ENDED("Failed", "True"), "status.conditions.#(type == Failed )#|0", "b"},
    {ENDED("Failed", "True"), "status.conditions.#(type==\"Failed\")#|1", NULL},
    {ENDED("Failed", "True"), "status.conditions.#(none!=\"x\")#", NULL},
    {"{\"a\":[{\"b\":{\"c\":2.0},\"reason\":\"x\"}]}", "a.#(b.c==2)", "x"},
    {"{\"a\":[{\"b\":true,\"reason\":\"x\"}]}", "a.#(b==true)#", "x"},
    {"{\"a\":[{\"b\":true,\"reason\":\"x\"}]}", "a.#(b==\"True\")#", NULL},
    {"{\"a\":[{\"b\":{\"reason\":\"x\"}},{\"c\":1}]}", "a.#.b", "x"},
    {"{\"a\":[{\"c\":1}]}", "a.#.b", NULL},
    {"{\"a\":[{\"b\":[{\"c\":\"d\",\"reason\":\"x\"}]}]}", "a.#.b.#(c==\"d\")",
     "x"},
    {"{\"a\":[{\"k\":1,\"b\":{\"reason\":\"x\"}},{\"k\":1,\"b\":{}}]}",
     "a.#(k==1)#.b|0", "x"},
    {"{\"a\":{\"x.y/z\":{\"reason\":\"w\"}}}", "a.x\\.y/z", "w"},
    {"{\"a\":[]}", "a", NULL},
    {"{\"a\":[{\"reason\":\"x\"}]}", "a", "x"},
    /* neither an object nor a list */
    {PHASE("Failed"), "status.phase", NULL},
    {"{\"status\":{\"failed\":1}}", "status.failed", NULL},
};

static void conditions_are_those_of_katib(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t byte;
        struct arena *arena = arena_new();
        CHECK(kube_condition_fault(cases[i].expression, &byte) == NULL);
        const struct node *found =
            kube_condition_find(arena, node_read_stored(arena, cases[i].object),
                                cases[i].expression);
        const char *reason = node_get_string(found, "reason", "?");
        CHECK((found != NULL) == (cases[i].reason != NULL));
        CHECK_TEXT(found != NULL ? reason : "",
                   cases[i].reason != NULL ? cases[i].reason : "");
        arena_free(arena);
    }
}

static const struct {
    const char *expression;
    size_t byte;
} faults[] = {{"", 0},
              {"status.", 7},
              {"status.*", 7},
              {"status.conditions.#", 18},
              {"status.conditions.#|0", 18},
              {"status.conditions.#(type)", 24},
              {"status.conditions.#(type>\"a\")", 24},
              {"status.conditions.#(type==\"a\"", 29},
              {"status.conditions.#(type==)", 26},
              {"status.conditions.#(type==\"a\\\"\")", 26},
              {"status.conditions.#(#(a==b)==\"a\")", 20},
              {"a.#(b==\"c\")#.#(d==\"e\")#", 13},
              {"a.#.b.#.c", 6},
              {"status.@reverse", 7},
              {"status conditions", 6}};

static void anything_else_is_refused_at_its_place(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        size_t byte = 999;
        CHECK(kube_condition_fault(faults[i].expression, &byte) != NULL);
        CHECK(byte == faults[i].byte);
    }
}

int main(void)
{
    RUN(conditions_are_those_of_katib);
    RUN(anything_else_is_refused_at_its_place);
    return check_done();
}
