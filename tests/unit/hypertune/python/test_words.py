"""Conditions, times and parameters, as a person writes them."""

import tap

import hypertune
from hypertune import show, space, where


def conditions_compare_numbers_as_numbers_and_words_without_case():
    def holds(text, value):
        return all(one.holds(value) for one in where.parse(text))
    for text, value, want in (
            ("x<0.3", 0.25, True), ("x<0.3", 0.3, False),
            ("x<=3e-1", 0.3, True), ("x>9", 10, True), ("x=adam", "Adam", True),
            ("x!=adam", "sgd", True), ("x>=2", None, False),
            ("x!=2", None, False), ("x=1", "1.0", True)):
        tap.equal(holds(text, value), want, "%s %r" % (text, value))
    tap.equal([(c.key, c.value) for c in where.parse("a<1  b=c=d")],
              [("a", "1"), ("b", "c=d")])
    for wrong in ("x", "<3", "x=", "x~3"):
        tap.raises(ValueError, where.parse, wrong)


def times_are_read_as_a_person_writes_them():
    for text, seconds in (("90s", 90), ("1h30m", 5400), ("2d", 172800),
                          ("250ms", 0.25), ("1.5h", 5400), (7, 7)):
        tap.equal(show.seconds(text), seconds)
    for wrong in ("", "2", "h", "2h x", "-2h"):
        tap.raises(ValueError, show.seconds, wrong)


def parameters_become_the_words_of_a_spec():
    made = space.to_spec([
        hypertune.Double("lr", 1e-5, 1, log=True, default=0.1),
        hypertune.Integer("n", 1, 9, step=2),
        hypertune.Discrete("b", [64, 32]),
        hypertune.Categorical("opt", ["adam", "sgd"]),
        hypertune.Double("momentum", 0, 0.99, reverse_log=True,
                         when={"opt": "sgd", "n": (1, 3)})])
    tap.equal(list(made.items()), [
        ("lr", {"type": "double", "min": 1e-5, "max": 1.0, "scale": "log",
                "default": 0.1}),
        ("n", {"type": "integer", "min": 1, "max": 9, "step": 2}),
        ("b", {"type": "discrete", "values": [32.0, 64.0]}),
        ("opt", {"type": "categorical", "values": ["adam", "sgd"]}),
        ("momentum", {"type": "double", "min": 0.0, "max": 0.99,
                      "scale": "reverse_log",
                      "when": {"opt": "sgd", "n": [1, 3]}})])
    tap.raises(ValueError, space.to_spec, [hypertune.Double("a", 0, 1)] * 2)
    tap.raises(ValueError, hypertune.Double, "a", 1, 2, log=True,
               reverse_log=True)


def ranges_are_texts_as_on_the_command_line():
    for text, want in (
            ("1..8", {"type": "integer", "min": 1, "max": 8}),
            ("int:16..128:16", {"type": "integer", "min": 16, "max": 128,
                                "step": 16}),
            ("0..1.5", {"type": "double", "min": 0, "max": 1.5}),
            ("real:1..8", {"type": "double", "min": 1, "max": 8}),
            ("0..1:0.25", {"type": "double", "min": 0, "max": 1,
                           "step": 0.25}),
            ("log:1e-5..0.1", {"type": "double", "min": 1e-5, "max": 0.1,
                               "scale": "log"})):
        tap.equal(space.to_spec({"x": text}), {"x": want}, text)
    given = {"b": [32, 64], "opt": ("adam", "sgd"), "n": {"min": 1}, "e": 20}
    tap.equal(space.to_spec(given), {
        **given, "opt": ["adam", "sgd"],
        "e": {"type": "discrete", "values": [20]}})
    for wrong in ("1..x", "..8", "log:1..", "0..1:", "big:1..8"):
        tap.contains("rate: ", str(tap.raises(ValueError, space.to_spec,
                                              {"rate": wrong})))
    for wrong in ([True, False], ["a", 1], {"values": [1, True]}):
        tap.contains("rate: ", str(tap.raises(TypeError, space.to_spec,
                                              {"rate": wrong})))
    tap.raises(TypeError, hypertune.Categorical, "n", [1, 2])
    tap.contains("a: its name", str(tap.raises(
        TypeError, space.to_spec, {"a": hypertune.Double("a", 0, 1)})))


if __name__ == "__main__":
    tap.run([
        conditions_compare_numbers_as_numbers_and_words_without_case,
        times_are_read_as_a_person_writes_them,
        parameters_become_the_words_of_a_spec,
        ranges_are_texts_as_on_the_command_line,
    ])
