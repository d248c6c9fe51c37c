#include <stdlib.h>
#include <string.h>

#include "run_support.h"
#include "support.h"

forkless_command *shell(const char *script) {
    return command("/bin/sh", "-c", script, NULL);
}

forkless_result ran(forkless_command *c, const forkless_run_options *options) {
    forkless_result result;
    forkless_error error;
    int rc = forkless_run(c, options, &result, &error);
    if (rc < 0) {
        char text[512];
        forkless_error_print(&error, text, sizeof text);
        check_failed(__FILE__, __LINE__, text);
    }
    forkless_command_free(c);
    return result;
}

void has_exited(const forkless_result *r, int code) {
    CHECK_EQ(r->status.how, FORKLESS_EXITED);
    CHECK_EQ(r->status.code, code);
}

void has_text(const char *text, size_t size, const char *want) {
    CHECK(text && strcmp(text, want) == 0);
    CHECK_EQ(size, strlen(want));
}

static unsigned char pattern(size_t i) {
    return (unsigned char)(i * 2654435761u >> 13);
}

char *patterned(size_t size) {
    char *data = malloc(size);
    CHECK(data != NULL);
    for (size_t i = 0; i < size; i++)
        data[i] = (char)pattern(i);
    return data;
}

void copied(const char *data, size_t size, enum forkless_how how) {
    forkless_result r =
        ran(command("/bin/cat", NULL), &(forkless_run_options){.input = data, .input_size = size});
    if (how == FORKLESS_EXITED || r.status.how == FORKLESS_EXITED)
        has_exited(&r, 0);
    else
        CHECK_EQ(r.status.how, how);
    CHECK_EQ(r.output_size, size);
    CHECK(memcmp(r.output, data, size) == 0);
    CHECK(!r.writers_remained || how != FORKLESS_EXITED);
    forkless_result_free(&r);
}
