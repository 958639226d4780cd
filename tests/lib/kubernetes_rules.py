"""What a Kubernetes API server refuses in the objects that we send: fields that
it does not know, wrong names, changes of what cannot change. Measured on 1.26
and 1.33; `minor` is the version that is played."""

import base64
import re

LABEL = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
NAME = re.compile(r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
ANY = None  # not looked at
MOST_DATA = 1024 * 1024  # of a ConfigMap


class Refused(Exception):
    """An answer of kind Status."""

    def __init__(self, code, reason, message, causes=(), retry=None):
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.causes, self.retry = list(causes), retry

    def status(self):
        return {"kind": "Status", "apiVersion": "v1", "metadata": {},
                "status": "Failure", "message": self.message,
                "reason": self.reason, "code": self.code,
                "details": {"causes": self.causes}}


def invalid(kind, name, causes):
    """422 with (field, reason, message) each."""
    return Refused(422, "Invalid", '%s "%s" is invalid: %s' % (
        kind, name, ", ".join("%s: %s" % (cause[0], cause[2])
                              for cause in causes)),
        [{"field": field, "reason": reason, "message": message}
         for field, reason, message in causes])


# ---- fields: a map of them, [a list of such], {"*": a map by free keys} ----

META = dict.fromkeys(
    ("name generateName namespace uid resourceVersion generation annotations "
     "labels creationTimestamp deletionTimestamp deletionGracePeriodSeconds "
     "finalizers ownerReferences managedFields selfLink").split(), ANY)
CONTAINER = dict.fromkeys(
    ("name image command args workingDir ports envFrom resources "
     "volumeDevices livenessProbe readinessProbe startupProbe lifecycle "
     "terminationMessagePath terminationMessagePolicy imagePullPolicy "
     "securityContext stdin stdinOnce tty").split(), ANY)
CONTAINER["env"] = [{"name": ANY, "value": ANY, "valueFrom": ANY}]
CONTAINER["volumeMounts"] = [dict.fromkeys(
    ("name readOnly mountPath subPath subPathExpr mountPropagation").split(),
    ANY)]
VOLUME = dict.fromkeys(
    ("name hostPath emptyDir secret configMap projected downwardAPI "
     "persistentVolumeClaim nfs csi ephemeral").split(), ANY)
POD_SPEC = dict.fromkeys(
    ("activeDeadlineSeconds affinity automountServiceAccountToken dnsConfig "
     "dnsPolicy enableServiceLinks hostAliases hostIPC hostNetwork hostPID "
     "hostUsers hostname imagePullSecrets nodeName nodeSelector os overhead "
     "preemptionPolicy priority priorityClassName readinessGates "
     "restartPolicy runtimeClassName schedulerName securityContext "
     "serviceAccount serviceAccountName setHostnameAsFQDN "
     "shareProcessNamespace subdomain terminationGracePeriodSeconds "
     "tolerations topologySpreadConstraints").split(), ANY)
POD_SPEC.update(containers=[CONTAINER], initContainers=[CONTAINER],
                volumes=[VOLUME])
JOB_SPEC = dict.fromkeys(
    ("activeDeadlineSeconds backoffLimit completionMode completions "
     "manualSelector parallelism podFailurePolicy selector suspend "
     "ttlSecondsAfterFinished").split(), ANY)
JOB_SPEC["template"] = {"metadata": META, "spec": POD_SPEC}
SERVICE_SPEC = dict.fromkeys(
    ("clusterIP clusterIPs externalName internalTrafficPolicy ipFamilies "
     "ipFamilyPolicy ports publishNotReadyAddresses selector "
     "sessionAffinity type").split(), ANY)
# From which minor version on; "JobSpec" leads /openapi/v3, too.
LATER = {"JobSpec": {"podReplacementPolicy": 28, "backoffLimitPerIndex": 28,
                     "maxFailedIndexes": 28, "successPolicy": 30,
                     "managedBy": 30},
         "PodSpec": {"schedulingGates": 26, "resourceClaims": 26},
         "Container": {"restartPolicy": 28},
         "Volume": {"image": 31}}


def schemas(minor):
    """{"JobSpec": fields} as that version has them."""
    def of(name, fields):
        return dict(fields, **{
            field: ANY for field, since in LATER.get(name, {}).items()
            if since <= minor})
    container, volume = of("Container", CONTAINER), of("Volume", VOLUME)
    pod = dict(of("PodSpec", POD_SPEC), containers=[container],
               initContainers=[container], volumes=[volume])
    job = dict(of("JobSpec", JOB_SPEC), template={"metadata": META,
                                                  "spec": pod})
    return {"Container": container, "Volume": volume, "PodSpec": pod,
            "JobSpec": job}


def kinds(minor):
    """{plural: (kind, group, fields)}"""
    known = schemas(minor)
    top = {"apiVersion": ANY, "kind": ANY, "metadata": META}
    return {
        "jobs": ("Job", "batch", dict(top, spec=known["JobSpec"], status=ANY)),
        "pods": ("Pod", "", dict(top, spec=known["PodSpec"], status=ANY)),
        "services": ("Service", "", dict(top, spec=SERVICE_SPEC, status=ANY)),
        "configmaps": ("ConfigMap", "", dict(
            top, data=ANY, binaryData=ANY, immutable=ANY)),
        "secrets": ("Secret", "", dict(
            top, data=ANY, stringData=ANY, type=ANY, immutable=ANY)),
        "serviceaccounts": ("ServiceAccount", "", dict(
            top, secrets=ANY, imagePullSecrets=ANY,
            automountServiceAccountToken=ANY)),
        "events": ("Event", "", dict(
            top, involvedObject=ANY, type=ANY, reason=ANY, message=ANY,
            lastTimestamp=ANY))}


def every(names, **others):
    return dict(dict.fromkeys(names.split(), ANY), **others)


SELECTOR = every("matchLabels matchExpressions")
PROBE = every("periodSeconds failureThreshold timeoutSeconds "
              "initialDelaySeconds successThreshold tcpSocket exec "
              "terminationGracePeriodSeconds grpc",
              httpGet=every("path port host scheme httpHeaders"))
CLAIM_SPEC = every("accessModes resources storageClassName selector "
                   "volumeMode volumeName dataSource dataSourceRef")
SERVER_POD = dict(POD_SPEC, containers=[dict(
    CONTAINER, startupProbe=PROBE, readinessProbe=PROBE, livenessProbe=PROBE,
    securityContext=every("allowPrivilegeEscalation readOnlyRootFilesystem "
                          "privileged runAsUser runAsGroup runAsNonRoot "
                          "procMount seLinuxOptions seccompProfile "
                          "windowsOptions", capabilities=every("add drop")))],
    securityContext=every("fsGroup fsGroupChangePolicy runAsGroup "
                          "runAsNonRoot runAsUser seLinuxOptions "
                          "seccompProfile supplementalGroups sysctls"))
PEER = every("ipBlock", podSelector=SELECTOR, namespaceSelector=SELECTOR)
BACKEND = {"service": {"name": ANY, "port": every("name number")},
           "resource": ANY}
# What `hypertune kubernetes manifest` makes and no runner sends.
SERVER_KINDS = {
    "Namespace v1": {"spec": ANY},
    "ServiceAccount v1": every("secrets imagePullSecrets "
                               "automountServiceAccountToken"),
    "Role rbac.authorization.k8s.io/v1": {"rules": [every(
        "apiGroups resources verbs resourceNames nonResourceURLs")]},
    "RoleBinding rbac.authorization.k8s.io/v1": {
        "roleRef": every("apiGroup kind name"),
        "subjects": [every("apiGroup kind name namespace")]},
    "Service v1": {"spec": dict(SERVICE_SPEC, ports=[every(
        "name port targetPort protocol nodePort appProtocol")])},
    "StatefulSet apps/v1": {"spec": every(
        "replicas serviceName podManagementPolicy updateStrategy "
        "revisionHistoryLimit minReadySeconds ordinals "
        "persistentVolumeClaimRetentionPolicy", selector=SELECTOR,
        template={"metadata": META, "spec": SERVER_POD},
        volumeClaimTemplates=[{"metadata": META, "spec": CLAIM_SPEC,
                               "apiVersion": ANY, "kind": ANY}])},
    "PodDisruptionBudget policy/v1": {"spec": every(
        "maxUnavailable minAvailable unhealthyPodEvictionPolicy",
        selector=SELECTOR)},
    "NetworkPolicy networking.k8s.io/v1": {"spec": every(
        "policyTypes egress", podSelector=SELECTOR, ingress=[{
            "ports": [every("port protocol endPort")], "from": [PEER]}])},
    "Ingress networking.k8s.io/v1": {"spec": every(
        "ingressClassName defaultBackend", tls=[every("hosts secretName")],
        rules=[{"host": ANY, "http": {"paths": [
            {"path": ANY, "pathType": ANY, "backend": BACKEND}]}}])},
    "ServiceMonitor monitoring.coreos.com/v1": {"spec": every(
        "namespaceSelector jobLabel targetLabels", selector=SELECTOR,
        endpoints=[every("port path interval scheme tlsConfig",
                         authorization={"type": ANY, "credentials": every(
                             "name key optional")})])}}


def check_server_kind(value):
    known = SERVER_KINDS["%s %s" % (value["kind"], value["apiVersion"])]
    check_strict(dict(known, apiVersion=ANY, kind=ANY, metadata=META), value)


def unknown(fields, value, path=""):
    """The paths of what is not among the fields."""
    if isinstance(fields, list):
        return [found for index, item in enumerate(value or ())
                for found in unknown(fields[0], item,
                                     "%s[%d]" % (path, index))]
    if not isinstance(fields, dict) or not isinstance(value, dict):
        return []
    found = []
    for key, item in value.items():
        at = path + "." + key if path else key
        found += (unknown(fields[key], item, at) if key in fields else [at])
    return found


def check_strict(fields, value):
    found = unknown(fields, value)
    if found:
        raise Refused(400, "BadRequest", "strict decoding error: " + ", ".join(
            'unknown field "%s"' % path for path in found))


def check_options(kind, query):
    """Of a creation (CreateOptions) or a change; the answer: is it a dry run?
    Measured on 1.34."""
    dry, how = query.get("dryRun"), query.get("fieldValidation", "")
    if dry not in (None, "All"):
        raise invalid(kind + "Options", "", [(
            "dryRun", "FieldValueNotSupported",
            'Unsupported value: ["%s"]: supported values: "All"' % dry)])
    if how not in ("", "Ignore", "Strict", "Warn"):
        raise invalid(kind + "Options", "", [(
            "fieldValidation", "FieldValueNotSupported", 'Unsupported value: '
            '"%s": supported values: "", "Ignore", "Strict", "Warn"' % how)])
    return dry is not None


def keep_known(fields, value):
    """What is left of it where unknown fields are no fault."""
    if isinstance(fields, list) and isinstance(value, list):
        return [keep_known(fields[0], item) for item in value]
    if not isinstance(fields, dict) or not isinstance(value, dict):
        return value
    return {key: keep_known(fields[key], item) for key, item in value.items()
            if key in fields}


# ---- values ----

def check_name(kind, name, plural):
    pattern, most = (LABEL, 63) if plural == "services" else (NAME, 253)
    if not name:
        raise invalid(kind, "", [("metadata.name", "FieldValueRequired",
                                  "Required value: name or generateName is "
                                  "required")])
    if len(name) > most or not pattern.match(name):
        raise invalid(kind, name, [(
            "metadata.name", "FieldValueInvalid",
            'Invalid value: "%s": a lowercase RFC 1123 %s must consist of '
            "lower case alphanumeric characters" % (
                name, "label" if most == 63 else "subdomain"))])


def check_size(kind, item):
    """Of a ConfigMap: without its keys, and Base64 as the bytes it is."""
    size = sum(len(text.encode()) for text in (item.get("data") or {})
               .values()) + sum(len(base64.b64decode(text, validate=True))
                                for text in (item.get("binaryData") or {})
                                .values())
    if size > MOST_DATA:
        raise invalid(kind, item["metadata"]["name"], [(
            "[]", "FieldValueTooLong",
            "Too long: must have at most %d bytes" % MOST_DATA)])


def check_job(job):
    spec = job.get("spec") or {}
    pod = (spec.get("template") or {}).get("spec") or {}
    causes = []
    if not pod.get("containers"):
        causes.append(("spec.template.spec.containers", "FieldValueRequired",
                       "Required value"))
    if pod.get("restartPolicy") not in ("Never", "OnFailure"):
        causes.append((
            "spec.template.spec.restartPolicy", "FieldValueNotSupported",
            'Unsupported value: "%s": supported values: "OnFailure", "Never"'
            % pod.get("restartPolicy", "Always")))
    elif spec.get("podFailurePolicy") and pod["restartPolicy"] != "Never":
        causes.append(("spec.template.spec.restartPolicy",
                       "FieldValueInvalid", 'Invalid value: "OnFailure": only '
                       '"Never" is supported when podFailurePolicy is '
                       "specified"))
    if spec.get("completionMode") == "Indexed" and not spec.get("completions"):
        causes.append(("spec.completions", "FieldValueRequired",
                       "Required value: when completion mode is Indexed"))
    if causes:
        raise invalid("Job.batch", job["metadata"]["name"], causes)


IMMUTABLE = {
    "jobs": ("template", "selector", "completionMode", "podFailurePolicy",
             "podReplacementPolicy", "managedBy"),
    "pods": ("containers", "initContainers", "volumes", "restartPolicy",
             "hostname", "subdomain"),
    "services": ("clusterIP",)}


def check_change(plural, kind, old, new):
    causes = [("spec." + field, "FieldValueInvalid",
               "Invalid value: %r: field is immutable" % (
                   new.get("spec", {}).get(field),))
              for field in IMMUTABLE.get(plural, ())
              if new.get("spec", {}).get(field) !=
              old.get("spec", {}).get(field)]
    if old.get("immutable") and (new.get("data") != old.get("data") or
                                 not new.get("immutable")):
        causes.append(("data", "FieldValueForbidden", "Forbidden: field is "
                       "immutable when `immutable` is set"))
    if causes:
        raise invalid(kind, old["metadata"]["name"], causes)


def has_fields(selector, item):
    """Of "involvedObject.kind=Job,type=Warning"."""
    for one in filter(None, selector.split(",")):
        path, wanted = one.split("=", 1)
        value = item
        for name in path.split("."):
            value = (value or {}).get(name)
        if str(value) != wanted:
            return False
    return True


def matches(selector, labels):
    """"a=b,c in (d,e),!f,g" of a list or a watch."""
    for part in re.split(r",(?![^(]*\))", selector or ""):
        part = part.strip()
        among = re.match(r"^(\S+) (not)?in \((.*)\)$", part)
        if among:
            inside = labels.get(among.group(1)) in among.group(3).split(",")
            good = inside != bool(among.group(2))
        elif "!=" in part:
            key, value = part.split("!=")
            good = labels.get(key) != value
        elif "=" in part:
            key, value = re.split("==?", part)
            good = labels.get(key) == value
        elif part.startswith("!"):
            good = part[1:] not in labels
        else:
            good = not part or part in labels
        if not good:
            return False
    return True
