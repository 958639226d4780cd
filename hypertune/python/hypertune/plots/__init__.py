"""The pictures of a study. `pictures` has what a Study offers, `trials`,
`results` and `model` say what to draw, the `draw_` modules draw it."""
