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


def parameters_become_googles_words():
    made = space.to_vertex([
        hypertune.Double("lr", 1e-5, 1, log=True, default=0.1),
        hypertune.Integer("n", 1, 8), hypertune.Discrete("b", [64, 32]),
        hypertune.Categorical("opt", ["adam", "sgd"]),
        hypertune.Double("momentum", 0, 0.99, reverse_log=True,
                         when={"opt": "sgd"}),
        hypertune.Integer("m", 1, 2, when={"n": [2, 3]})])
    tap.equal([spec["parameterId"] for spec in made], ["lr", "n", "b", "opt"])
    tap.equal(made[0], {"parameterId": "lr", "scaleType": "UNIT_LOG_SCALE",
                        "doubleValueSpec": {"minValue": 1e-5, "maxValue": 1.0,
                                            "defaultValue": 0.1}})
    tap.equal(made[1]["integerValueSpec"], {"minValue": "1", "maxValue": "8"})
    tap.equal(made[1]["conditionalParameterSpecs"][0]["parentIntValues"],
              {"values": ["2", "3"]})
    tap.equal(made[2]["discreteValueSpec"], {"values": [32.0, 64.0]})
    child = made[3]["conditionalParameterSpecs"][0]
    tap.equal(child["parentCategoricalValues"], {"values": ["sgd"]})
    tap.equal(child["parameterSpec"]["scaleType"], "UNIT_REVERSE_LOG_SCALE")


def conditions_on_no_parent_are_refused():
    tap.raises(ValueError, space.to_vertex,
               [hypertune.Double("a", 0, 1, when={"b": 1})])
    tap.raises(ValueError, space.to_vertex,
               [hypertune.Double("b", 0, 1),
                hypertune.Double("a", 0, 1, when={"b": 1})])
    tap.raises(ValueError, space.to_vertex, [hypertune.Double("a", 0, 1)] * 2)
    tap.raises(ValueError, hypertune.Double, "a", 1, 2, log=True,
               reverse_log=True)


if __name__ == "__main__":
    tap.run([
        conditions_compare_numbers_as_numbers_and_words_without_case,
        times_are_read_as_a_person_writes_them,
        parameters_become_googles_words,
        conditions_on_no_parent_are_refused,
    ])
