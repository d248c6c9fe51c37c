#include "output.h"

#include "csv.h"
#include "google_benchmark.h"
#include "json.h"
#include "memory.h"
#include "page.h"
#include "render.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

const char *const format_names[FORMATS] = {"text", "html", "markdown",
                                           "csv",  "json", "google-benchmark"};

bool find_format(const char *name, enum format *format) {
    for (*format = TEXT; *format < FORMATS; (*format)++)
        if (!strcmp(name, format_names[*format]))
            return true;
    return false;
}

bool find_format_of(const char *path, enum format *format) {
    static const struct {
        const char *ending;
        enum format format;
    } known[] = {{".txt", TEXT},    {".html", HTML}, {".htm", HTML},
                 {".md", MARKDOWN}, {".csv", CSV},   {".json", JSON}};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof known / sizeof *known; i++)
        if (!strcmp(ending, known[i].ending)) {
            *format = known[i].format;
            return true;
        }
    return false;
}

static void write_page(const struct run *run, const struct second_clock *clock, enum format format,
                       FILE *out, char **lacking) {
    struct document page = page_make(run, clock, format == HTML);
    if (format == HTML)
        html_write(&page, out);
    else
        markdown_write(&page, out);
    if (page.why_lacking)
        *lacking = sentence("the page has no pictures: %s", page.why_lacking);
    document_free(&page);
}

char *render(const struct run *run, const struct second_clock *clock, enum format format,
             size_t *length, char **lacking) {
    char *report = NULL;
    FILE *out = must(open_memstream(&report, length));
    *lacking = NULL;
    switch (format) {
    case TEXT:
        text_print(run, out);
        if (clock) {
            fputc('\n', out);
            second_clock_print(clock, run, out);
        }
        break;
    case CSV:
        csv_write(run, out);
        break;
    case JSON:
        write_json(run, out);
        break;
    case GOOGLE_BENCHMARK:
        write_google_benchmark(run, out);
        break;
    default:
        write_page(run, clock, format, out, lacking);
    }
    fclose(out);
    return must(report);
}
