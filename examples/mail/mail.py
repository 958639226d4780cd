#!/usr/bin/env python3
"""mail.py - sends each delivery of a webhook of hypertune as a mail."""

import argparse
import email.message
import hashlib
import hmac
import http.server
import json
import smtplib
import sys

MOST_BODY = 1 << 20  # bytes
SMTP_SECONDS = 10    # of the 15 that the server waits for an answer


def place(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", type=place, default=("127.0.0.1", 8025),
                        metavar="HOST:PORT")
    parser.add_argument("--smtp", type=place, required=True,
                        metavar="HOST:PORT")
    parser.add_argument("--from", dest="sender", required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--secret-file",
                        help="the key of the signature, as in webhooks.json")
    return parser.parse_args()


def trial_lines(title, trial):
    """A trial with its result and its parameters."""
    yield "%s: trial %s, %s" % (title, trial["id"], trial["state"])
    if trial.get("reason"):
        yield "  " + trial["reason"]
    for name, value in {**trial.get("metrics", {}),
                        **trial["parameters"]}.items():
        yield "  %s: %s" % (name, value)


def mail_of(event, sender, to):
    study = event["study"]
    mail = email.message.EmailMessage()
    mail["From"], mail["To"] = sender, to
    mail["Subject"] = "hypertune: %s, %s" % (study["name"], event["event"])
    lines = ["%s: %s" % (study["name"], study["state"]),
             study.get("reason", ""), ""]
    for title, key in (("About", "trial"), ("Best", "best")):
        if key in event:
            lines += [*trial_lines(title, event[key]), ""]
    mail.set_content("\n".join([*lines, event["link"], ""]))
    return mail


def is_signed(headers, body, secret):
    stamp = headers.get("X-Hypertune-Timestamp", "").encode()
    want = hmac.new(secret, stamp + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest("sha256=" + want,
                               headers.get("X-Hypertune-Signature", ""))


def handler_for(options, secret):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(min(length, MOST_BODY))
            if secret is not None and not is_signed(self.headers, body, secret):
                self.answer(403, "the signature is wrong")
                return
            try:
                mail = mail_of(json.loads(body), options.sender, options.to)
            except (ValueError, KeyError) as problem:
                self.answer(400, "no event: %s" % problem)
                return
            try:
                with smtplib.SMTP(*options.smtp, timeout=SMTP_SECONDS) as smtp:
                    smtp.send_message(mail)
            except (OSError, smtplib.SMTPException) as problem:
                self.answer(502, "no mail was sent: %s" % problem)
                return
            self.answer(204, "sent: " + mail["Subject"])

        def answer(self, code, words):
            print(words, file=sys.stderr, flush=True)
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_):
            pass

    return Handler


def main():
    options = read_options()
    secret = None
    if options.secret_file:
        with open(options.secret_file, "rb") as file:
            secret = file.read().rstrip(b"\r\n")
    server = http.server.ThreadingHTTPServer(options.listen,
                                             handler_for(options, secret))
    print("listens on %s:%d" % server.server_address[:2], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
