"""openid - a small OpenID Connect provider on loopback: discovery, its key, and
the code flow (OpenID Connect Core 3.1) for one client and one person."""

import base64
import http.server
import json
import os
import subprocess
import threading
import time
import urllib.parse


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """RSA, for RS256."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, name + ".pem")
        subprocess.run(["openssl", "genrsa", "-out", self.path, "2048"],
                       check=True, stderr=subprocess.DEVNULL)
        modulus = subprocess.run(
            ["openssl", "rsa", "-in", self.path, "-noout", "-modulus"],
            check=True, stdout=subprocess.PIPE, encoding="ascii").stdout
        self.public = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1",
                       "e": "AQAB", "n": encode(bytes.fromhex(
                           modulus.strip().split("=")[1]))}

    def sign(self, claims):
        text = ".".join(encode(json.dumps(part).encode()) for part in (
            {"alg": "RS256", "typ": "JWT", "kid": "1"}, claims))
        signature = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", self.path],
            input=text.encode(), check=True, stdout=subprocess.PIPE).stdout
        return text + "." + encode(signature)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value, **headers):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, header in dict(headers, Content_Type="application/json",
                                 Content_Length=str(len(body))).items():
            self.send_header(name.replace("_", "-"), header)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        provider = self.server.provider
        asked = dict(urllib.parse.parse_qsl(query))
        if path == "/.well-known/openid-configuration":
            self.answer(200, provider.metadata())
        elif path == "/keys":
            self.answer(200, {"keys": [provider.key.public]})
        elif path == "/authorize" and asked["client_id"] == provider.client[0]:
            code = provider.new_code(asked)
            self.answer(302, {}, Location=asked["redirect_uri"] + "?" +
                        urllib.parse.urlencode({"code": code,
                                                "state": asked["state"]}))
        else:
            self.answer(404, {})

    def do_POST(self):
        """The code for a token, once."""
        provider = self.server.provider
        asked = dict(urllib.parse.parse_qsl(self.rfile.read(
            int(self.headers["Content-Length"])).decode()))
        basic = "Basic " + base64.b64encode(
            ":".join(provider.client).encode()).decode()
        login = provider.codes.pop(asked.get("code"), None)
        if (login is None or self.headers["Authorization"] != basic or
                asked["redirect_uri"] != login["redirect_uri"]):
            return self.answer(400, {"error": "invalid_grant"})
        return self.answer(200, {
            "access_token": "none", "token_type": "Bearer",
            "id_token": provider.signing.sign(provider.claims(login))})


class Provider:
    """A context manager. `signing` is the key that signs, `key` the one that
    it publishes."""

    def __init__(self, folder, person, client):
        self.person, self.client, self.codes = person, client, {}
        self.key = self.signing = Key(folder, "provider")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.server.provider = self
        self.issuer = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def metadata(self):
        return {"issuer": self.issuer,
                "authorization_endpoint": self.issuer + "/authorize",
                "token_endpoint": self.issuer + "/token",
                "jwks_uri": self.issuer + "/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "token_endpoint_auth_methods_supported": [
                    "client_secret_basic"],
                "id_token_signing_alg_values_supported": ["RS256"]}

    def new_code(self, login):
        code = os.urandom(16).hex()
        self.codes[code] = login
        return code

    def claims(self, login):
        now = int(time.time())
        return {"iss": self.issuer, "aud": self.client[0], "sub": "1",
                "email": self.person, "nonce": login["nonce"], "iat": now,
                "exp": now + 600}
