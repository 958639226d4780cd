/* style.h - how a page about a study looks, in light and in dark. */
#ifndef HT_HYPERTUNE_CLI_REPORT_STYLE_H
#define HT_HYPERTUNE_CLI_REPORT_STYLE_H

extern const char report_style[]; /* CSS */

#endif
