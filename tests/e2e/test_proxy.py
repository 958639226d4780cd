"""nginx, Caddy and Apache with the lines of docs/operations.md: clients and a
browser's requests through TLS, what a proxy's headers may say, and people whom
it logs in."""

import base64
import functools
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request

import api
import harness
import openid
import tap

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
NAME = "localhost"


def documented(language, block=0):
    with open(os.path.join(ROOT, "docs", "operations.md"),
              encoding="utf-8") as file:
        return re.findall("```%s\n(.*?)```" % language, file.read(),
                          re.S)[block]


def make_certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-keyout",
         os.path.join(folder, "key.pem"), "-out",
         os.path.join(folder, "cert.pem"), "-subj", "/CN=" + NAME, "-addext",
         "subjectAltName=DNS:" + NAME, "-days", "2"], check=True,
        stderr=subprocess.DEVNULL)


def nginx(folder, port, plain, server, more=""):
    lines = documented("nginx").replace("127.0.0.1:8470",
                                        server.http.split("//")[1])
    lines = lines.replace("}", more + "}")
    with open(os.path.join(folder, "conf"), "w", encoding="utf-8") as file:
        file.write("""daemon off; user root; error_log stderr; pid %(f)s/pid;
events {} http { access_log off; client_body_temp_path %(f)s/body;
proxy_temp_path %(f)s/proxy; fastcgi_temp_path %(f)s/fast;
uwsgi_temp_path %(f)s/uwsgi; scgi_temp_path %(f)s/scgi;
server { listen 127.0.0.1:%(port)d ssl; listen 127.0.0.1:%(plain)d;
ssl_certificate %(f)s/cert.pem; ssl_certificate_key %(f)s/key.pem;
%(lines)s } }
""" % {"f": folder, "port": port, "plain": plain, "lines": lines})
    return ["nginx", "-p", folder, "-c", os.path.join(folder, "conf")]


def caddy(folder, port, plain, server):
    lines = documented("caddy").replace("127.0.0.1:8470",
                                        server.http.split("//")[1])
    body = lines.split("{", 1)[1].rsplit("}", 1)[0]
    with open(os.path.join(folder, "conf"), "w", encoding="utf-8") as file:
        file.write("""{
    admin off
    auto_https off
    grace_period 1s
}
https://%s:%d {
    bind 127.0.0.1
    tls %s/cert.pem %s/key.pem
%s}
http://%s:%d {
    bind 127.0.0.1
%s}
""" % (NAME, port, folder, folder, body, NAME, plain, body))
    return ["caddy", "run", "--adapter", "caddyfile", "--config",
            os.path.join(folder, "conf")]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class Proxy:
    """One of the two before a server of its own."""

    def __init__(self, configure, *options):
        self.ports = [harness.Port() for _ in range(2)]
        self.port, self.plain = [port.number for port in self.ports]
        self.folder = tempfile.mkdtemp(prefix="ht-proxy-")
        self.url = "https://%s:%d" % (NAME, self.port)
        make_certificate(self.folder)
        self.cert = os.path.join(self.folder, "cert.pem")
        self.server = harness.Server("--behind-proxy", "127.0.0.1",
                                     "--public-name", self.url, "--runner",
                                     "none", *options)
        self.configure = configure
        self.process = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def start(self):
        self.server.__enter__()
        for port in self.ports:
            port.close()
        self.process = subprocess.Popen(
            self.configure(self.folder, self.port, self.plain, self.server),
            env=dict(os.environ, HOME=self.folder),
            stderr=open(os.path.join(self.folder, "log"), "wb"))
        harness.wait_until(lambda: self.process.poll() is not None or (
            answers(self.port) and answers(self.plain)), "the proxy")
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"),
                      encoding="utf-8") as file:
                raise AssertionError(file.read())
        return self

    def __exit__(self, *what):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
        self.server.__exit__(*what)
        shutil.rmtree(self.folder)

    def ask(self, method, path, headers, body=None, plain=False):
        if plain:
            connection = http.client.HTTPConnection(NAME, self.plain)
        else:
            connection = http.client.HTTPSConnection(
                NAME, self.port,
                context=ssl.create_default_context(cafile=self.cert))
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer, text

    def token(self):
        with open(self.server.token_file, encoding="ascii") as file:
            return file.read().strip()


def check_clients(proxy):
    env = {"HYPERTUNE_SERVER": proxy.url}
    done = proxy.server.cli("--server", proxy.url, "--ca", proxy.cert, "list",
                            "-o", "name")
    assert done.stdout == "", done.stdout
    done = proxy.server.cli("--server", proxy.url, "list", check=False)
    assert done.returncode == 4, done
    assert "no trust in " + proxy.url in done.stderr, done.stderr
    assert "--ca FILE" in done.stderr, done.stderr
    pin = "sha256//" + 43 * "A" + "="
    done = proxy.server.cli("--server", proxy.url, "--pin", pin, "list",
                            check=False)
    assert done.returncode == 4 and "no trust" in done.stderr, done.stderr
    script = ("import hypertune; c = hypertune.Client(); "
              "print(len(c.studies()))")
    for trust, code in (({"HYPERTUNE_CA": proxy.cert}, 0), ({}, 1),
                        ({"HYPERTUNE_PIN": pin}, 1),
                        ({"HYPERTUNE_PIN": own_pin(proxy.cert)}, 0)):
        done = subprocess.run(
            ["python3", "-c", script], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
            env=dict(os.environ, **env, **trust,
                     HYPERTUNE_TOKEN_FILE=proxy.server.token_file,
                     PYTHONPATH=os.path.join(ROOT, "hypertune", "python")))
        assert done.returncode == code, (trust, done.stdout, done.stderr)
        assert code == 0 or "no trust" in done.stderr, done.stderr
    done = proxy.server.cli("--server", proxy.url, "--pin",
                            own_pin(proxy.cert), "list")
    assert done.returncode == 0


def own_pin(cert):
    return "sha256//" + subprocess.run(
        "openssl x509 -in %s -pubkey -noout | openssl pkey -pubin -outform "
        "der | openssl dgst -sha256 -binary | base64" % cert, shell=True,
        check=True, stdout=subprocess.PIPE, encoding="ascii").stdout.strip()


def check_browser(proxy):
    body = json.dumps({"token": proxy.token()})
    headers = {"Content-Type": "application/json", "Origin": proxy.url}
    answer, text = proxy.ask("POST", "/hypertune/v1/login", headers, body)
    assert answer.status == 200, (answer.status, text)
    cookie = answer.getheader("Set-Cookie")
    assert cookie.startswith("__Host-") and "; Secure" in cookie, cookie
    assert "Path=/;" in cookie and "Domain" not in cookie, cookie
    headers = {"Cookie": cookie.split(";")[0]}
    answer, _ = proxy.ask("GET", "/hypertune/v1/server", headers)
    assert answer.status == 200, answer.status
    bare = {"Cookie": headers["Cookie"][len("__Host-"):]}
    answer, _ = proxy.ask("GET", "/hypertune/v1/server", bare)
    assert answer.status == 401, answer.status
    for origin in ("http://%s:%d" % (NAME, proxy.port),
                   "https://evil.example"):
        headers = {"Content-Type": "application/json", "Origin": origin}
        answer, _ = proxy.ask("POST", "/hypertune/v1/login", headers, body)
        assert answer.status == 403, (origin, answer.status)


def check_plain(proxy):
    answer, text = proxy.ask("GET", "/healthz", {"Host": "%s:%d" % (
        NAME, proxy.plain)}, plain=True)
    assert answer.status == 403, (answer.status, text)
    assert b"https" in text, text


def bearer(proxy):
    return {"Authorization": "Bearer " + proxy.token()}


def check_host(proxy):
    """The server sees which host was asked for, and refuses others."""
    headers = dict(bearer(proxy), Host="evil.example")
    answer, text = proxy.ask("GET", "/hypertune/v1/server", headers)
    assert answer.status == 421 or text == b"", (answer.status, text)


def check_body(proxy):
    """What is too large reaches the server, which says what its limit is."""
    headers = dict(bearer(proxy), **{"Content-Type": "application/json"})
    answer, text = proxy.ask("POST", "/hypertune/v1/specs:check", headers,
                             (2 * 1024 * 1024) * "x")
    tap.equal(answer.status, 413)
    tap.contains(b"the body is over", text)


def open_stream(proxy):
    connection = http.client.HTTPSConnection(
        NAME, proxy.port, timeout=harness.PATIENCE,
        context=ssl.create_default_context(cafile=proxy.cert))
    connection.request("GET", "/hypertune/v1/events", headers=dict(
        bearer(proxy), Accept="text/event-stream"))
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    assert answer.readline(), "no line of the stream"
    return connection, answer


def check_stream(proxy):
    """Events come one by one although the answer has no end."""
    connection, answer = open_stream(proxy)
    for name in ("first", "second"):
        proxy.server.submit({
            "spec": 1, "name": name, "goal": "maximize accuracy", "trials": 1,
            "parameters": {"x": [1]}, "args": "none", "command": ["true"]})
        line = b"\n"
        while not line.startswith(b"data:"):
            line = answer.readline()
            assert line, "the stream ended"
    connection.close()


def check_cut(proxy):
    """What a killed server leaves is no whole answer. Caddy shows it as one."""
    connection, answer = open_stream(proxy)
    proxy.server.process.kill()
    try:
        rest = answer.read()
    except (http.client.IncompleteRead, OSError):
        connection.close()
        return
    raise AssertionError("a cut stream ends as a whole one: %r" % rest)


def need(name):
    if shutil.which(name) is None:
        if os.environ.get("HYPERTUNE_TEST_ALL") == "1":
            raise AssertionError("%s is not installed" % name)
        raise tap.Skip("%s is not installed" % name)


def run_through(name, configure, *more):
    need(name)
    with Proxy(configure) as proxy:
        check_clients(proxy)
        check_browser(proxy)
        check_plain(proxy)
        check_host(proxy)
        check_body(proxy)
        check_stream(proxy)
        for check in more:
            check(proxy)


def nginx_with_the_documented_lines():
    run_through("nginx", nginx, check_cut)


def people_nginx(folder, port, plain, server):
    users = os.path.join(folder, "users")
    with open(users, "w", encoding="ascii") as file:
        file.write("eve:{PLAIN}secret\n")
    return nginx(folder, port, plain, server, documented("nginx", 1).replace(
        "/etc/nginx/hypertune.users", users))


def nginx_names_the_person_whom_it_has_asked_for_a_password():
    need("nginx")
    eve = "Basic " + base64.b64encode(b"eve:secret").decode()
    with Proxy(people_nginx, "--proxy-user-header",
               "X-Forwarded-User") as proxy:
        for headers, status in (({"Authorization": eve}, 200),
                                ({"Authorization": "Basic ZXZlOmJvYg=="}, 401),
                                ({"X-Forwarded-User": "bob"}, 401)):
            answer, _ = proxy.ask("GET", "/hypertune/v1/session", headers)
            assert answer.status == status, (headers, answer.status)
        _, text = proxy.ask("GET", "/hypertune/v1/session", {
            "Authorization": eve, "X-Forwarded-User": "bob"})
        assert json.loads(text)["name"] == "user eve", text


MODULES = ("mpm_event authn_core authz_core authz_user headers proxy "
           "proxy_http ssl auth_openidc").split()
APACHE = "/usr/lib/apache2/modules/mod_%s.so"


def apache(provider, folder, port, plain, server):
    lines = documented("apache")
    for old, new in (("https://login.example.org", provider.issuer),
                     ("https://tuner.example.org",
                      "https://%s:%d" % (NAME, port)),
                     ("tuner.example.org", NAME),
                     ("/etc/ssl/tuner", folder),
                     ("CLIENT-SECRET", provider.client[1]),
                     ("http://127.0.0.1:8470", server.http)):
        assert old in lines, old
        lines = lines.replace(old, new)
    os.chmod(folder, 0o755)  # started by root, it serves as another user
    path = os.path.join(folder, "conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join("LoadModule %s_module %s\n" % (
            name, APACHE % name) for name in MODULES))
        file.write("""User www-data
Group www-data
ServerRoot %(f)s
DefaultRuntimeDir %(f)s
PidFile %(f)s/pid
ErrorLog %(f)s/log
Listen 127.0.0.1:%(plain)d
Listen 127.0.0.1:%(port)d
<VirtualHost *:%(port)d>
%(lines)s</VirtualHost>
""" % {"f": folder, "port": port, "plain": plain, "lines": lines})
    return ["apache2", "-D", "FOREGROUND", "-f", path]


class Visitor:
    """A browser's cookies and redirections."""

    def __init__(self, proxy):
        self.url = proxy.url
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(),
            urllib.request.HTTPSHandler(
                context=ssl.create_default_context(cafile=proxy.cert)))

    def ask(self, path, body=None, **headers):
        """(status, answer)"""
        request = urllib.request.Request(
            self.url + path, body, {name.replace("_", "-"): value
                                    for name, value in headers.items()})
        request.add_header("Accept", "text/html,*/*")
        try:
            with self.opener.open(request, timeout=harness.PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.read().decode()


def check_person(proxy, provider):
    eve = Visitor(proxy)
    session = "/hypertune/v1/session"
    status, text = eve.ask(session)
    tap.equal((status, json.loads(text)["name"]),
              (200, "user " + provider.person), text)
    tap.contains("<title>hypertune", eve.ask("/")[1])
    _, text = eve.ask(session, X_Forwarded_User="bob")
    tap.equal(json.loads(text)["name"], "user " + provider.person)
    jobs, body = harness.JOBS[:-1], json.dumps(api.job("hers")).encode()
    for origin, wanted in (("https://evil.example", 403), (proxy.url, 200)):
        status, text = eve.ask(jobs, body, Origin=origin,
                               Content_Type="application/json")
        tap.equal(status, wanted, text)
    lines = proxy.server.get("/hypertune/v1/audit?study=hers")["lines"]
    tap.equal([line["principal"] for line in lines],
              ["user " + provider.person])


def apache_logs_people_in_by_openid_connect():
    if not os.path.exists(APACHE % "auth_openidc"):
        raise tap.Skip("libapache2-mod-auth-openidc is not installed")
    with tempfile.TemporaryDirectory() as folder, openid.Provider(
            folder, "eve@lab.example", ("hypertune", "s3cret")) as provider:
        with Proxy(functools.partial(apache, provider), "--proxy-user-header",
                   "X-Forwarded-User", "--proxy-role", "submit") as proxy:
            check_person(proxy, provider)
            check_stream(proxy)
            forged = {"X-Forwarded-User": "bob"}
            for headers, wanted in (({}, 401), (forged, 401), (dict(
                    forged, Authorization="Bearer wrong"), 401), ({
                        "Authorization": "Bearer " + proxy.token()}, 200)):
                answer, text = proxy.ask("GET", "/hypertune/v1/session",
                                         headers)
                tap.equal(answer.status, wanted, text)
            tap.equal(json.loads(text)["name"], "admin")
            provider.signing = openid.Key(folder, "forger")
            _, text = Visitor(proxy).ask("/hypertune/v1/session")
            tap.contains("OpenID Connect Provider error", text)


def caddy_with_the_documented_lines():
    run_through("caddy", caddy)


tap.run([nginx_with_the_documented_lines,
         nginx_names_the_person_whom_it_has_asked_for_a_password,
         apache_logs_people_in_by_openid_connect,
         caddy_with_the_documented_lines])
