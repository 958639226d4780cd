"""The example trainer by itself: equal flags give equal figures, wrong flags
are explained."""

import gzip
import os
import re
import subprocess
import tempfile

import harness
import tap
import tree


def digits(*flags, data=tree.DIGITS):
    return subprocess.run(
        [os.path.join(harness.bin_dir(), "digits"), "--data=" + data] +
        list(flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", timeout=harness.PATIENCE)


def trains(*flags):
    done = digits(*flags)
    tap.equal((done.returncode, done.stderr), (0, ""))
    return done.stdout


def refuses(flag, words):
    done = digits(flag)
    tap.equal((done.returncode, done.stdout), (2, ""))
    if words not in done.stderr:
        raise AssertionError("no %r in %r" % (words, done.stderr))


def refuses_data(text, words, compress=gzip.compress):
    with tempfile.NamedTemporaryFile() as file:
        file.write(compress(text.encode()))
        file.flush()
        done = digits(data=file.name)
    tap.equal(done.returncode, 2)
    if words not in done.stderr:
        raise AssertionError("no %r in %r" % (words, done.stderr))


def equal_flags_give_equal_figures():
    flags = ["--epochs=5", "--activation=tanh", "--hidden_units=24"]
    tap.equal(trains(*flags), trains(*flags))


def another_seed_gives_other_figures():
    if trains("--epochs=3") == trains("--epochs=3", "--seed=2"):
        raise AssertionError("the seed changes nothing")


def it_learns_to_read():
    output = trains("--epochs=20")
    tap.equal(len(re.findall(r"^epoch \d+: loss", output, re.M)), 20)
    accuracy = float(re.search(r"^test accuracy (0\.\d{4})$", output,
                               re.M).group(1))
    if accuracy < 0.95:
        raise AssertionError("test accuracy %g" % accuracy)


def each_activation_learns():
    for name in ("relu", "tanh", "sigmoid"):
        output = trains("--epochs=20", "--momentum=0.9", "--activation",
                        name)
        accuracy = float(output.split()[-1])
        if accuracy < 0.9:
            raise AssertionError("%s: test accuracy %g" % (name, accuracy))


def every_hyperparameter_matters():
    usual = trains("--epochs=2")
    for flag in ("--learning_rate=0.01", "--hidden_units=20", "--momentum=0",
                 "--weight_decay=0.01", "--batch_size=64",
                 "--activation=sigmoid"):
        if trains("--epochs=2", flag) == usual:
            raise AssertionError(flag + " changes nothing")


def a_diverging_network_ends_early_and_well():
    output = trains("--learning_rate=100", "--momentum=0.999")
    if "diverged" not in output or "epoch 50" in output:
        raise AssertionError(output)


def wrong_flags_are_explained():
    refuses("--learning_rate=fast", "--learning_rate must be a number")
    refuses("--learning_rate=0", "from 1e-09 to 100, not 0")
    refuses("--learning_rate=nan", "--learning_rate must be a number")
    refuses("--momentum=1", "--momentum must be a number from 0 to 0.9999")
    refuses("--hidden_units=2.5", "--hidden_units must be a whole number")
    refuses("--batch_size=0", "--batch_size must be a whole number from 1")
    refuses("--activation=step", "must be relu, tanh or sigmoid, not step")
    refuses("--colour=red", "unrecognized option '--colour=red'")
    refuses("surplus", "unexpected argument surplus")


def wrong_data_is_explained():
    done = digits(data="/nowhere.gz")
    tap.equal((done.returncode, done.stderr), (
        2, "digits: /nowhere.gz: No such file or directory\n"))
    image = ",".join(["0"] * 64) + ",7\n"
    refuses_data(image * 4, "4 images are too few")
    refuses_data(image * 5 + image.replace("7", "10"), "line 6 is not 64")
    refuses_data(image * 5 + image.replace("0", "17", 1), "line 6 is not 64")
    refuses_data(image * 5 + "1,2,3\n", "line 6 is not 64 pixels")
    refuses_data(image * 500, "", lambda text: gzip.compress(text)[:-12])


def plain_text_is_read_as_well():
    with gzip.open(tree.DIGITS, "rb") as packed, \
            tempfile.NamedTemporaryFile() as plain:
        plain.write(packed.read())
        plain.flush()
        tap.equal(digits("--epochs=1", data=plain.name).stdout,
                  trains("--epochs=1"))


tap.run([equal_flags_give_equal_figures, another_seed_gives_other_figures,
         it_learns_to_read, each_activation_learns,
         every_hyperparameter_matters,
         a_diverging_network_ends_early_and_well, wrong_flags_are_explained,
         wrong_data_is_explained, plain_text_is_read_as_well])
