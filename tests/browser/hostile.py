"""hostile - texts that a page must show as they are: markup, scripts, templates,
breaks out of attributes, signs that turn or hide others."""

import re

MARK = "pwned"  # what a script that runs would set on the window

RUN = "window.%s=1" % MARK

STRINGS = [
    "<script>%s</script>" % RUN,
    "<img src=x onerror=%s>" % RUN,
    "<svg onload=%s>" % RUN,
    "<svg><script>%s</script></svg>" % RUN,
    "<body onload=%s>" % RUN,
    "<iframe src=javascript:%s>" % RUN,
    "<iframe srcdoc='<script>parent.%s=1</script>'>" % MARK,
    "<object data=javascript:%s>" % RUN,
    "<embed src=javascript:%s>" % RUN,
    "<a href=javascript:%s>a</a>" % RUN,
    "<form action=javascript:%s><input>" % RUN,
    "<details open ontoggle=%s>" % RUN,
    "<input autofocus onfocus=%s>" % RUN,
    "<video><source onerror=%s>" % RUN,
    "<marquee onstart=%s>" % RUN,
    "<math><mi xlink:href=javascript:%s>" % RUN,
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<meta http-equiv=refresh content=0;url=//evil.test>",
    "<base href=//evil.test/>",
    "<template><script>%s</script></template>" % RUN,
    "<noscript><p title=\"</noscript><img src=x onerror=%s>\">" % RUN,
    "<!--<img src=x onerror=%s>-->" % RUN,
    "--><script>%s</script>" % RUN,
    "<![CDATA[<script>%s</script>]]>" % RUN,
    "\"><script>%s</script>" % RUN,
    "'><script>%s</script>" % RUN,
    "\" onmouseover=%s x=\"" % RUN,
    "' onfocus=%s autofocus='" % RUN,
    "` onload=%s `" % RUN,
    "</title><script>%s</script>" % RUN,
    "</textarea><script>%s</script>" % RUN,
    "</script><script>%s</script>" % RUN,
    "</style><script>%s</script>" % RUN,
    "javascript:%s" % RUN,
    "data:text/html,<script>%s</script>" % RUN,
    "//evil.test/x",
    "https://evil.test/x?a=1&b=2",
    "{{constructor.constructor('%s')()}}" % RUN,
    "${%s}" % RUN,
    "#{%s}" % RUN,
    "<%%= %s %%>" % RUN,
    "';%s;//" % RUN,
    "\";%s;//" % RUN,
    "\\';%s;//" % RUN,
    "\\u003cscript\\u003e%s\\u003c/script\\u003e" % RUN,
    "&lt;script&gt;%s&lt;/script&gt;" % RUN,
    "&#60;img src=x onerror=%s&#62;" % RUN,
    "%%3Cscript%%3E%s%%3C/script%%3E" % RUN,
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "toString",
    "../../../etc/passwd",
    "a/b#c?d=e&f",
    "null",
    "=cmd|' /C calc'!A0",
    "\u202egpj.exe",
    "a\u0301\u0302\u0303\u0304 \U0001f469\u200d\U0001f4bb \u05d0\u05d1\u05d2",
    "W" * 120,
]


def visible(text):
    """As tuner/web/format.js shows it: what turns or hides others is named."""
    return re.sub(
        "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f"
        "\u2028-\u202e\u2066-\u2069]",
        lambda found: "\u27e8U+%04X\u27e9" % ord(found[0]), text)
