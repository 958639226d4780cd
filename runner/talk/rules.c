#include "runner/talk/rules.h"

#include <dirent.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "runner/base/credentials.h"

enum { MOST_SECRETS = 500 };

static void add_strings(cJSON *object, const char *key,
                        const struct strings *strings)
{
    cJSON *array = json_add_array(object, key);
    for (size_t i = 0; i < strings->n; i++)
        json_push_string(array, strings->items[i]);
}

/* Names alone; what is in them stays here. */
static void add_secrets(cJSON *object, const char *folder)
{
    cJSON *array = json_add_array(object, "secrets");
    DIR *dir = folder != NULL ? opendir(folder) : NULL;
    struct dirent *entry;
    size_t n = 0;
    while (dir != NULL && n < MOST_SECRETS && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        json_push_string(array, entry->d_name);
        n++;
    }
    if (dir != NULL)
        closedir(dir);
}

static void add_accounts(cJSON *object, const struct site *site)
{
    struct arena *arena = arena_new();
    const struct strings accounts = credentials_accounts(arena, site);
    add_strings(object, "credentials", &accounts);
    arena_free(arena);
}

static int64_t own_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (int64_t)pages * size : 0;
}

static struct engine_abilities abilities_of(const struct site *site,
                                            const struct engine *engine)
{
    if (engine->abilities != NULL)
        return engine->abilities();
    return (struct engine_abilities){
        .gpus = true, .cpus = site->cores, .memory = own_memory()};
}

void talk_rules_text(const struct site *site, const struct engine *engine,
                     struct text *out)
{
    const struct engine_abilities abilities = abilities_of(site, engine);
    cJSON *rules = cJSON_CreateObject();
    json_add_bool(rules, "images", engine->images);
    add_strings(rules, "allow", &site->allowed);
    add_strings(rules, "volumeRoots", &site->volume_roots);
    json_add_string(rules, "gcsRoot", site->gcs_root);
    json_add_bool(rules, "gcsCredentials", site->gcs_credentials);
    add_secrets(rules, site->secrets);
    add_strings(rules, "secretVariables", &site->secret_variables);
    add_accounts(rules, site);
    add_strings(rules, "gpus", &site->gpus);
    json_add_bool(rules, "shareGpus", site->share_gpus);
    json_add_int(rules, "cpus", abilities.cpus);
    json_add_int(rules, "memory", abilities.memory);
    if (abilities.version != NULL)
        json_add_string(rules, "engine", abilities.version);
    json_print(rules, out);
}
