/* Names of metrics that are like the wanted one, alone and in lines of logs. */
#include <stdbool.h>
#include <string.h>

#include "proto/doc/similar_name.h"
#include "tests/check.h"

static void names_are_compared_in_four_degrees(void)
{
    static const struct {
        const char *wanted, *seen;
        enum likeness want;
    } all[] = {
        {"accuracy", "accuracy", LIKENESS_FOLDED},
        {"accuracy", "Accuracy", LIKENESS_FOLDED},
        {"val_accuracy", "val-Accuracy", LIKENESS_FOLDED},
        {"accuracy", "acuracy", LIKENESS_NEAR},
        {"accuracy", "accurracy", LIKENESS_NEAR},
        {"accuracy", "acc", LIKENESS_PART},
        {"accuracy", "val_accuracy", LIKENESS_NEAR},
        {"accuracy", "best_test_accuracy", LIKENESS_PART},
        {"accuracy", "loss", LIKENESS_NONE},
        {"accuracy", "ac", LIKENESS_NONE},
        {"f1", "lr", LIKENESS_NONE},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK(similar_name_score(all[i].wanted, all[i].seen) == all[i].want);
}

static void a_line_gives_the_number_with_the_likest_name(void)
{
    static const struct {
        const char *line, *name; /* NULL: none */
        double value;
    } all[] = {
        {"Accuracy: 0.93", "Accuracy", 0.93},
        {"{'loss': 0.3, 'accuracy': 0.5}", "accuracy", 0.5},
        {"\"accuracy\": -1e-3,", "accuracy", -1e-3},
        {"acc = 7 of 8", "acc", 7},
        {"accuracy 0.25", "accuracy", 0.25},
        {"10/10 - 1s - loss: 0.4 - accuracy: 0.9 - val_accuracy: 0.8",
         "accuracy", 0.9},
        {"step 1 accuracy=0.1 accuracy=0.2", "accuracy", 0.2},
        {"accuracy improved", NULL, 0},
        {"accuracy7", NULL, 0},
        {"0.93", NULL, 0},
        {"loss: 0.93", NULL, 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct named_number found = {.value = 0};
        const bool any =
            similar_name_find("accuracy", all[i].line, &found) != LIKENESS_NONE;
        CHECK(any == (all[i].name != NULL));
        if (!any || all[i].name == NULL)
            continue;
        CHECK(found.name_len == strlen(all[i].name));
        CHECK(memcmp(all[i].line + found.at, all[i].name, found.name_len) == 0);
        CHECK(found.value >= all[i].value && found.value <= all[i].value);
    }
}

int main(void)
{
    RUN(names_are_compared_in_four_degrees);
    RUN(a_line_gives_the_number_with_the_likest_name);
    return check_done();
}
