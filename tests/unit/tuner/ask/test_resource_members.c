/* The schema of the resources that lists answer. */
#include "tuner/ask/resource_members.h"

#include "tests/check.h"

static bool find(const struct message *message, const char *word,
                 struct member *member)
{
    return resource_members_find(message, word, strlen(word), member);
}

static void members_are_found_in_both_spellings(void)
{
    struct member member;
    const struct message *study = resource_members_of("Study");
    CHECK(find(study, "displayName", &member));
    CHECK(member.shape == MEMBER_ONE && member.type == NULL);
    CHECK(find(study, "display_name", &member));
    CHECK(member.name_bytes == strlen("displayName") &&
          strncmp(member.name, "displayName", member.name_bytes) == 0);
    CHECK(!find(study, "displayname", &member));
    CHECK(!find(study, "display", &member));
    CHECK(!find(study, "", &member));
}

static void the_shape_of_a_member_is_known(void)
{
    struct member member;
    const struct message *job = resource_members_of("HyperparameterTuningJob");
    CHECK(find(job, "labels", &member) && member.shape == MEMBER_MAP);
    CHECK(find(job, "hypertuneStatus", &member) && member.shape == MEMBER_OPEN);
    CHECK(find(job, "trials", &member) && member.shape == MEMBER_LIST);
    CHECK(member.type == resource_members_of("Trial"));
}

/* A path through messages, as a mask or filter has it. */
static void members_of_members_are_reached_by_their_type(void)
{
    struct member member;
    const struct message *study = resource_members_of("Study");
    CHECK(find(study, "study_spec", &member) && member.type != NULL);
    CHECK(find(member.type, "parameters", &member) && member.type != NULL);
    CHECK(find(member.type, "double_value_spec", &member));
    CHECK(find(member.type, "max_value", &member) && member.type == NULL);
}

static void every_type_that_is_named_is_there(void)
{
    CHECK(resource_members_of("Studie") == NULL);
    CHECK(resource_members_of("study") == NULL);
    CHECK(resource_members_of("CustomJob") != NULL);
}

int main(void)
{
    RUN(members_are_found_in_both_spellings);
    RUN(the_shape_of_a_member_is_known);
    RUN(members_of_members_are_reached_by_their_type);
    RUN(every_type_that_is_named_is_there);
    return check_done();
}
