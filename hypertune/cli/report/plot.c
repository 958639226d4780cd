#include "hypertune/cli/report/plot.h"

#include <math.h>

#include "hypertune/cli/report/markup.h"

/* In units of the picture, which the page makes as wide as it can. */
enum {
    WIDTH = 440,
    HEIGHT = 260,
    LEFT = 56,
    RIGHT = WIDTH - 14,
    TOP = 26,
    BOTTOM = HEIGHT - 38,
    LETTER = 6,     /* about the width of one */
    NAME_CHARS = 40 /* that an axis has room for */
};

static double across(const struct plot *plot, double value)
{
    return LEFT + scale_place(&plot->x, value) * (RIGHT - LEFT);
}

static double up(const struct plot *plot, double value)
{
    const double place = fmin(fmax(scale_place(&plot->y, value), 0), 1);
    return BOTTOM - place * (BOTTOM - TOP);
}

static void open_picture(const char *label, int height, struct text *out)
{
    text_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" ", WIDTH, height);
    markup_put(out, "aria-label=\"", label, "\">\n");
}

/* ---- axes ---- */

static void add_label(const struct scale_tick *tick, size_t chars,
                      struct text *out)
{
    markup_cut(out, scale_label(tick), chars);
    text_puts(out, "</text>\n");
}

static void add_x_axis(const struct plot *plot)
{
    struct scale_tick ticks[SCALE_TICKS];
    const size_t n = scale_ticks(&plot->x, ticks);
    for (size_t i = 0; i < n; i++) {
        const double x = across(plot, ticks[i].value);
        text_printf(plot->out,
                    "<path class=\"tick\" d=\"M%.1f %dv4\"/>"
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                    x, BOTTOM, x, BOTTOM + 16);
        add_label(&ticks[i], (size_t)(RIGHT - LEFT) / LETTER / n, plot->out);
    }
}

static void add_y_axis(const struct plot *plot)
{
    struct scale_tick ticks[SCALE_TICKS];
    const size_t n = scale_ticks(&plot->y, ticks);
    for (size_t i = 0; i < n; i++) {
        const double y = up(plot, ticks[i].value);
        text_printf(plot->out,
                    "<path class=\"grid\" d=\"M%d %.1fH%d\"/>"
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                    LEFT, y, RIGHT, LEFT - 6, y + 4);
        add_label(&ticks[i], LEFT / LETTER, plot->out);
    }
}

void plot_begin(const struct plot *plot, const char *label, const char *x_name,
                const char *y_name)
{
    struct text *out = plot->out;
    open_picture(label, HEIGHT, out);
    add_y_axis(plot);
    text_printf(out, "<path class=\"tick\" d=\"M%d %dH%d\"/>\n", LEFT, BOTTOM,
                RIGHT);
    add_x_axis(plot);
    text_puts(out, "<text class=\"name\" x=\"4\" y=\"14\">");
    markup_cut(out, y_name, NAME_CHARS);
    text_printf(out,
                "</text><text class=\"name\" x=\"%d\" y=\"%d\" "
                "text-anchor=\"end\">",
                RIGHT, HEIGHT - 5);
    markup_cut(out, x_name, NAME_CHARS);
    text_puts(out, "</text>\n");
}

void plot_end(const struct plot *plot)
{
    text_puts(plot->out, "</svg>\n");
}

/* ---- marks ---- */

/* Each with its tip is an element; without tips all are one, since a page may
 * have tens of thousands. */
void plot_points(const struct plot *plot, const char *kind, size_t n,
                 const double xs[], const double ys[], const char *const tips[])
{
    struct text *out = plot->out;
    text_printf(out,
                tips != NULL ? "<g class=\"%s\">" : "<path class=\"%s\" d=\"",
                kind);
    for (size_t i = 0; i < n; i++) {
        if (!scale_holds(&plot->x, xs[i]) || !scale_holds(&plot->y, ys[i]))
            continue;
        text_printf(out,
                    tips != NULL ? "<path d=\"M%.1f %.1fh0\">" : "M%.1f %.1fh0",
                    across(plot, xs[i]), up(plot, ys[i]));
        if (tips != NULL)
            markup_put(out, "<title>", tips[i], "</title></path>\n");
    }
    text_puts(out, tips != NULL ? "</g>\n" : "\"/>\n");
}

void plot_line(const struct plot *plot, const char *kind, size_t n,
               const double xs[], const double ys[])
{
    text_printf(plot->out, "<polyline class=\"%s\" points=\"", kind);
    for (size_t i = 0; i < n; i++)
        text_printf(plot->out, "%s%.1f,%.1f", i > 0 ? " " : "",
                    across(plot, xs[i]), up(plot, ys[i]));
    text_puts(plot->out, "\"/>\n");
}

void plot_bars(const char *label, size_t n, const struct plot_bar bars[],
               struct text *out)
{
    enum { ROW = 24, NAMES = 140, WORDS = 56, SPAN = WIDTH - NAMES - WORDS };
    open_picture(label, (int)n * ROW + ROW / 2, out);
    for (size_t i = 0; i < n; i++) {
        const int y = (int)i * ROW + ROW / 4;
        const double width = fmax(bars[i].share * SPAN, 1);
        text_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                    NAMES - 8, y + 14);
        markup_cut(out, bars[i].name, (NAMES - 8) / LETTER);
        text_printf(out,
                    "</text><rect class=\"bar\" x=\"%d\" y=\"%d\" "
                    "width=\"%.1f\" height=\"%d\" rx=\"2\"/>"
                    "<text x=\"%.1f\" y=\"%d\">",
                    NAMES, y, width, ROW - 6, NAMES + width + 6, y + 14);
        markup_put(out, "", bars[i].words, "</text>\n");
    }
    text_puts(out, "</svg>\n");
}
