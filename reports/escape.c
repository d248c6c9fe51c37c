#include "escape.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool continues(unsigned char byte) {
    return (byte & 0xc0) == 0x80;
}

/*
 * The bytes of the character at the text's start; 0 when it is none that XML allows, or one that
 * turns round the direction of all that follows.
 */
static size_t character(const unsigned char *text) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80             ? 1
                    : (text[0] & 0xe0) == 0xc0 ? 2
                    : (text[0] & 0xf0) == 0xe0 ? 3
                    : (text[0] & 0xf8) == 0xf0 ? 4
                                               : 0;
    uint32_t code = length > 1 ? text[0] & (0x7fU >> length) : text[0];
    for (size_t i = 1; i < length; i++) {
        if (!continues(text[i]))
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    bool none = surrogate || turns || code > 0x10ffff || (code & 0xfffe) == 0xfffe;
    return length == 0 || none || code < least[length] ? 0 : length;
}

/* One character, and where the next begins. */
static const char *copy(FILE *out, const char *text) {
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = character(bytes);
    bool control =
        bytes[0] < 0x20 || bytes[0] == 0x7f || (length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0);
    if (control)
        fputc(' ', out);
    else if (length == 0)
        fputs("\xef\xbf\xbd", out);
    else
        fwrite(text, 1, length, out);
    return text + (length ? length : 1);
}

static const char *entity(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void write_xml(FILE *out, const char *text) {
    while (*text) {
        const char *name = entity(*text);
        if (name) {
            fputs(name, out);
            text++;
        } else {
            text = copy(out, text);
        }
    }
}

/* Links that GitHub makes by itself of what looks like one are kept apart at the colon and dot. */
static bool starts_link(const char *text) {
    return !strncmp(text, "://", 3) || !strncmp(text, "www.", 4);
}

/* An underscore inside a word is one, as in forkless_start. */
static bool is_markup(const char *text, const char *start) {
    if (*text == '_' && text > start)
        return !isalnum((unsigned char)text[-1]) || !isalnum((unsigned char)text[1]);
    return strchr("\\`*_{}[]#|~!$@", *text) || (*text == ':' && starts_link(text));
}

void write_markdown(FILE *out, const char *text) {
    const char *start = text;
    while (*text) {
        const char *name = *text == '\'' || *text == '"' ? NULL : entity(*text);
        if (name) {
            fputs(name, out);
            text++;
        } else if (is_markup(text, start)) {
            fprintf(out, "\\%c", *text++);
        } else if (starts_link(text)) {
            fputs("www\\.", out);
            text += strlen("www.");
        } else {
            text = copy(out, text);
        }
    }
}

void write_csv(FILE *out, const char *text) {
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        fputc('"', out);
    while (*text) {
        if (*text == '"')
            fputc('"', out);
        text = copy(out, text);
    }
    if (quoted)
        fputc('"', out);
}
