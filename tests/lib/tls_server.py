"""A server with its own certificate, and what its clients trust."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess

import harness

NAME = "localhost"


class TlsServer(harness.Server):
    """Its public address is `https`; `http` is the plain one of loopback."""

    def start(self, fail=None):
        address = self.ports[0].address
        self.https = "https://%s:%d" % (NAME, self.ports[0].number)
        self.tls = os.path.join(self.data, "tls")
        if not os.path.exists(self.tls):
            self.make("init")
        self.process = subprocess.Popen(
            [os.path.join(harness.bin_dir(), "hypertuned"), "--data",
             self.data, "--listen", address, "--report-listen", self.report,
             "--control-listen", self.control] + self.options,
            stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL)
        line = self._first_line(harness.time.monotonic() + harness.PATIENCE)
        ready = re.match(r"ready http=(\S+) report=\S+ token-file=(.+)$", line)
        assert ready, (line, self.log_text())
        self.http, self.token_file = ready.groups()
        self.ca = os.path.join(self.tls, "ca.pem")

    def make(self, *words):
        return subprocess.run(
            [os.path.join(harness.bin_dir(), "hypertune"), "tls", *words,
             "--data", self.data], check=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8").stdout

    def pins(self):
        """Of `tls show`: the key in use, and the next one or None."""
        text = self.make("show")
        return [found.group(1) if found else None for found in (
            re.search(r"^%s +(\S+)$" % word, text, re.M)
            for word in ("pin", "next pin"))]

    def connect(self, context=None, source="", port=None):
        raw = socket.create_connection(
            ("127.0.0.1", port or self.ports[0].number), harness.PATIENCE,
            (source, 0))
        context = context or ssl.create_default_context(cafile=self.ca)
        return context.wrap_socket(raw, server_hostname=NAME)

    def ask(self, path, token=None):
        connection = http.client.HTTPSConnection(
            NAME, self.ports[0].number,
            context=ssl.create_default_context(cafile=self.ca))
        connection.request("GET", path, headers={
            "Authorization": "Bearer " + (token or self.token())})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def token(self):
        with open(self.token_file, encoding="ascii") as file:
            return file.read().strip()

    def note(self):
        with open(os.path.join(self.data, "server.json"),
                  encoding="utf-8") as file:
            return json.load(file)

    def reload(self, pin):
        """SIGHUP; waits until the server shows a certificate of this pin."""
        self.process.send_signal(signal.SIGHUP)
        harness.wait_until(lambda: self.shown_pin() == pin, "the new key")

    def shown_pin(self):
        context = ssl._create_unverified_context()
        with self.connect(context) as link:
            der = link.getpeercert(binary_form=True)
        return pin_of(der)


def pin_of(der):
    done = subprocess.run(
        "openssl x509 -inform der -pubkey -noout | openssl pkey -pubin "
        "-outform der | openssl dgst -sha256 -binary | base64", shell=True,
        input=der, check=True, stdout=subprocess.PIPE)
    return "sha256//" + done.stdout.decode().strip()
