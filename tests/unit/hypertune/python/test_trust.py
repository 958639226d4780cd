"""Whom the Python client trusts with its token."""

import os
import subprocess
import tempfile

import tap

from hypertune import errors, trust


def make_certificate(folder):
    """A certificate in DER, and the pin that openssl computes for it."""
    key, pem = os.path.join(folder, "key"), os.path.join(folder, "pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", pem,
         "-subj", "/CN=x", "-days", "2"], check=True,
        stderr=subprocess.DEVNULL)
    der = subprocess.run(["openssl", "x509", "-in", pem, "-outform", "der"],
                         check=True, stdout=subprocess.PIPE).stdout
    pin = subprocess.run(
        "openssl x509 -in %s -pubkey -noout | openssl pkey -pubin -outform "
        "der | openssl dgst -sha256 -binary | base64" % pem, shell=True,
        check=True, stdout=subprocess.PIPE, encoding="ascii").stdout.strip()
    return der, "sha256//" + pin


def a_pin_is_that_of_openssl():
    with tempfile.TemporaryDirectory() as folder:
        der, pin = make_certificate(folder)
    assert trust.pin_of(der) == pin, (trust.pin_of(der), pin)


def refused(*arguments):
    try:
        trust.check(*arguments)
    except errors.PermissionDenied as error:
        assert "https://" in str(error), error
        return True
    return False


def a_token_goes_to_this_machine_alone_in_clear():
    plain = trust.Trust()
    for url in ("http://127.0.0.1:1", "http://localhost", "http://[::1]:1"):
        assert not refused(plain, url, True), url
    for url in ("http://192.0.2.1", "http://127.0.0.1.example", "http://[::2]",
                "http://localhost.example"):
        assert refused(plain, url, True), url
        assert not refused(plain, url, False), url
        assert not refused(trust.Trust(insecure=True), url, True), url
    assert not refused(plain, "https://192.0.2.1", True)


def a_malformed_pin_is_refused():
    good = "sha256//" + 43 * "A" + "="
    assert trust.read({"HYPERTUNE_PIN": good + ";" + good}).pins == (good,
                                                                     good)
    for bad in ("x", good[:-1], good + "x", "sha1//" + good):
        try:
            trust.read({"HYPERTUNE_PIN": bad})
        except ValueError as error:
            assert "sha256//" in str(error)
        else:
            raise AssertionError(bad)


tap.run([a_pin_is_that_of_openssl,
         a_token_goes_to_this_machine_alone_in_clear,
         a_malformed_pin_is_refused])
