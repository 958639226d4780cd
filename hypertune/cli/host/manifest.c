/* manifest.c - `kubernetes manifest`: the objects of a server inside a cluster,
 * from manifest.yaml. */

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "hypertune/cli/frame/commands.h"
#include "proto/base/quote.h"
#include "proto/job/kube_rights.h"

/* The path is the repository's root, where make runs. */
__asm__(".section .rodata\n"
        ".global cli_manifest_start\n"
        "cli_manifest_start:\n"
        ".incbin \"hypertune/cli/host/manifest.yaml\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char cli_manifest_start[];

enum { LABEL_BYTES = 63 }; /* of a name of DNS */

static const char own_namespace[] = "hypertune";

/* A place @NAME@ of the file, or a part from "#if NAME" to "#end". */
struct place {
    const char *name;
    const char *text; /* NULL: a part, or one of a part that is left out */
    bool there;       /* its part is */
};

/* ---- what it says ---- */

static const char *quoted(struct cli *cli, const char *value)
{
    struct text out = {0};
    quote_json(&out, value);
    return text_take(&out, cli->arena);
}

static const char *rules(struct cli *cli)
{
    struct text out = {0};
    kube_rights_put(&out, &kube_rights);
    out.data[--out.len] = '\0'; /* the place has the line's end */
    return text_take(&out, cli->arena);
}

static const char *peers(struct cli *cli)
{
    struct text out = {0};
    const struct words *words = &cli->set.peers;
    for (size_t i = 0; i < words->n; i++)
        text_printf(&out,
                    "%s    - namespaceSelector:\n        matchLabels: "
                    "{kubernetes.io/metadata.name: %s}",
                    i > 0 ? "\n" : "", quoted(cli, words->items[i]));
    return text_take(&out, cli->arena);
}

/* What clients call it: the Ingress first, then the Service. */
static const char *names(struct cli *cli, const char *namespace)
{
    const char *host = cli->set.ingress;
    return quoted(
        cli,
        arena_printf(cli->arena,
                     "--public-name=%s%s%shttps://hypertune:8470,https://"
                     "hypertune.%s:8470,https://hypertune.%s.svc:8470",
                     host != NULL ? "https://" : "", host != NULL ? host : "",
                     host != NULL ? "," : "", namespace, namespace));
}

static const char *either(const char *value, const char *usual)
{
    return value != NULL ? value : usual;
}

/* ---- the file ---- */

static const struct place *find_place(const struct place *places,
                                      const char *name, size_t len)
{
    while (strncmp(places->name, name, len) != 0 || places->name[len] != '\0')
        places++;
    return places;
}

/* One line, without its end; nothing where a place alone on it is empty. */
static void put_line(const struct place *places, const char *line, size_t len,
                     struct text *out)
{
    const size_t before = out->len;
    const char *end = line + len, *at;
    while ((at = memchr(line, '@', (size_t)(end - line))) != NULL) {
        text_append(out, line, (size_t)(at - line));
        line = strchr(at + 1, '@') + 1;
        text_puts(out,
                  find_place(places, at + 1, (size_t)(line - at - 2))->text);
    }
    text_append(out, line, (size_t)(end - line));
    if (out->len > before)
        text_puts(out, "\n");
}

static void fill(const struct place *places, struct text *out)
{
    static const char begin[] = "#if ", end[] = "#end";
    bool there = true;
    size_t len;
    for (const char *line = cli_manifest_start; *line != '\0';
         line += len + 1) {
        len = strcspn(line, "\n");
        if (strncmp(line, begin, sizeof begin - 1) == 0)
            there = find_place(places, line + sizeof begin - 1,
                               len - (sizeof begin - 1))
                        ->there;
        else if (strncmp(line, end, sizeof end - 1) == 0)
            there = true;
        else if (there)
            put_line(places, line, len, out);
    }
}

static void write_manifest(struct cli *cli, struct text *out)
{
    const struct cli_settings *set = &cli->set;
    const char *namespace = either(set->namespace, own_namespace);
    const struct place places[] = {
        {"own", NULL, set->namespace == NULL},
        {"class", NULL, set->storage_class != NULL},
        {"ingress", NULL, set->ingress != NULL},
        {"tls", NULL, set->tls_secret != NULL},
        {"monitor", NULL, set->monitor},
        {"NAMESPACE", quoted(cli, namespace), true},
        {"RULES", rules(cli), true},
        {"IMAGE",
         quoted(cli, either(set->image, "localhost/hypertune:" HT_VERSION)),
         true},
        {"NAMES", names(cli, namespace), true},
        {"CLASS", quoted(cli, either(set->storage_class, "")), true},
        {"STORAGE", quoted(cli, either(set->storage, "10Gi")), true},
        {"PEERS", peers(cli), true},
        {"HOST", quoted(cli, either(set->ingress, "")), true},
        {"SECRET", quoted(cli, either(set->tls_secret, "")), true}};
    fill(places, out);
}

/* ---- where it goes ---- */

static int write_base(struct cli *cli, struct text *manifest)
{
    struct text base = {0};
    text_puts(&base, "apiVersion: kustomize.config.k8s.io/v1beta1\n"
                     "kind: Kustomization\n"
                     "resources: [hypertune.yaml]\n");
    const char *folder = cli->set.kustomize;
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        return cli_fail(cli, CLI_REFUSED, "cannot make %s: %s", folder,
                        strerror(errno));
    int code = cli_print_into(
        cli, arena_printf(cli->arena, "%s/hypertune.yaml", folder), manifest);
    if (code == CLI_DONE)
        code = cli_print_into(
            cli, arena_printf(cli->arena, "%s/kustomization.yaml", folder),
            &base);
    return code;
}

/* ---- what was asked ---- */

static bool is_label(const char *name)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (!islower((unsigned char)name[i]) &&
            !isdigit((unsigned char)name[i]) &&
            (name[i] != '-' || i == 0 || i + 1 == len))
            return false;
    return len > 0 && len <= LABEL_BYTES;
}

static int check(struct cli *cli)
{
    const struct cli_settings *set = &cli->set;
    if (strcmp(cli->args.words.items[0], "manifest") != 0)
        return cli_usage(cli);
    if (set->namespace != NULL && !is_label(set->namespace))
        return cli_fail(cli, CLI_USAGE,
                        "--namespace: %s is no name of a namespace",
                        set->namespace);
    if (set->tls_secret != NULL && set->ingress == NULL)
        return cli_fail(cli, CLI_USAGE,
                        "--tls is of an Ingress: --ingress "
                        "HOST");
    if ((set->ingress != NULL || set->monitor) && set->peers.n == 0)
        return cli_fail(cli, CLI_USAGE,
                        "--%s needs --allow-from NAMESPACE, where the pods of "
                        "%s are: the NetworkPolicy lets in no others",
                        set->ingress != NULL ? "ingress" : "monitor",
                        set->ingress != NULL ? "the Ingress controller"
                                             : "Prometheus");
    return CLI_DONE;
}

static void advise(struct cli *cli)
{
    const char *namespace = either(cli->set.namespace, own_namespace);
    if (cli->set.image == NULL)
        cli_say(cli, "the image is the one of `make image`, for nodes that "
                     "have it; --image names one in a registry");
    cli_say(cli,
            "when it runs: kubectl -n %s port-forward svc/hypertune 8470, and "
            "for a link that logs in\n"
            "  kubectl -n %s exec sts/hypertune -- hypertune ui --no-open",
            namespace, namespace);
}

int cli_kubernetes(struct cli *cli)
{
    struct text out = {0};
    int code = check(cli);
    if (code != CLI_DONE)
        return code;
    write_manifest(cli, &out);
    code = cli->set.kustomize != NULL ? write_base(cli, &out) : cli_print(&out);
    if (code == CLI_DONE)
        advise(cli);
    return code;
}
