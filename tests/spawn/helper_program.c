/* forkless-exec itself: missing, replaced, refusing, failing at each of its system calls, killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

enum { NOBODY = 65534, F_ADD = 1033 /* F_ADD_SEALS */ };

static forkless_command *helped(forkless_command *c) {
    CHECK_EQ(forkless_command_oom_score(c, 500), 0);
    return c;
}

static void copy_file(const char *from, char *path, mode_t mode) {
    int in = open(from, O_RDONLY | O_CLOEXEC), out = mkostemp(path, O_CLOEXEC);
    CHECK(in >= 0 && out >= 0);
    while (sendfile(out, in, NULL, 1 << 20) > 0)
        continue;
    CHECK_EQ(fchmod(out, mode), 0);
    close(in);
    close(out);
}

static void refuses(const char *path, int code, const char *reason) {
    static struct snapshot before;
    CHECK_EQ(forkless_helper_path(path), 0);
    forkless_command *c = helped(probe("exit", "7", NULL));
    for (int l = 0; l < 2; l++)
        fails(launchers[l], c, code, FORKLESS_STEP_HELPER, -1);
    snapshot_take(&before);
    for (int l = 0; l < 2; l++) {
        forkless_child *child;
        forkless_error error;
        if (launchers[l](c, &child, &error) == 0)
            forkless_wait(child, FORKLESS_NEVER, NULL, &error);
        forkless_child_free(child);
        CHECK_EQ(error.code, code);
        CHECK_EQ(error.step, FORKLESS_STEP_HELPER);
        CHECK(strcmp(error.subject, path) == 0);
        CHECK(strstr(error.reason, reason));
    }
    snapshot_check(&before);
    forkless_command_free(c);
}

/* ---- B110: what is on disk ---- */

TEST(b110_missing_and_then_there) {
    CHECK_EQ(forkless_helper_path(NULL), -EINVAL);
    CHECK_EQ(forkless_helper_path(""), -EINVAL);
    refuses("/nonexistent/forkless-exec", -ENOTSUP, "No such file");
    with_helper();
    forkless_command *c = helped(probe("exit", "7", NULL));
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    CHECK_EQ(forkless_helper_path(FORKLESS_EXEC), -EBUSY);
    forkless_command_free(c);
}

TEST(b110_not_executable) {
    char path[] = "/tmp/spawn-test-XXXXXX";
    copy_file(FORKLESS_EXEC, path, 0644);
    refuses(path, -ENOTSUP, "Permission denied");
    unlink(path);
}

TEST(b110_not_a_program) {
    refuses("/etc", -ENOTSUP, "Permission denied");
}

TEST(b110_another_version) {
    refuses(OTHER_VERSION, -ENOTSUP, "another version");
}

TEST(b110_another_program) {
    refuses(PROBE, -EIO, "");
}

TEST(set_uid_copy) {
    char path[] = "/tmp/spawn-test-XXXXXX";
    if (geteuid() != 0)
        skip_test("not root");
    copy_file(FORKLESS_EXEC, path, 0755);
    CHECK_EQ(chown(path, NOBODY, NOBODY), 0);
    CHECK_EQ(chmod(path, 04755), 0);
    refuses(path, -ENOTSUP, "it refuses");
    unlink(path);
}

TEST(b110_replaced_and_deleted) {
    char path[] = "/tmp/spawn-test-XXXXXX", other[] = "/tmp/spawn-test-XXXXXX";
    copy_file(FORKLESS_EXEC, path, 0755);
    copy_file(OTHER_VERSION, other, 0755);
    CHECK_EQ(forkless_helper_path(path), 0);
    forkless_command *c = helped(probe("exit", "7", NULL)), *later = helped(probe("exit", NULL));
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 7);
    CHECK_EQ(rename(other, path), 0);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], c), FORKLESS_EXITED, 7);
    unlink(path);
    for (int l = 0; l < 2; l++)
        ends(launched(launchers[l], later), FORKLESS_EXITED, 0);
    forkless_command_free(c);
    forkless_command_free(later);
}

/* ---- started by hand: it does nothing and says nothing ---- */

static void by_hand(const char *name, const char *argument) {
    forkless_command *c = command(FORKLESS_EXEC, NULL);
    CHECK_EQ(forkless_command_arg0(c, name), 0);
    if (argument)
        CHECK_EQ(forkless_command_arg(c, argument), 0);
    CHECK_EQ(forkless_command_inherit_fds(c), 0);
    ends(launched(forkless_spawn, c), FORKLESS_EXITED, 126);
    forkless_command_free(c);
}

TEST(started_by_hand) {
    static const char page[4096];
    int out = memfd_create("out", 0), job, report[2];
    CHECK_EQ(dup2(out, 1), 1);
    CHECK_EQ(dup2(out, 2), 2);
    for (int i = 0; i < 3; i++) {
        by_hand("forkless-exec", NULL);
        by_hand("forkless-exec 1 20", NULL);
        by_hand("forkless-exec 1 20", "/bin/true");
        by_hand("forkless-exec 1 2", "/bin/true");
        by_hand("forkless-exec 1 99999999999", "/bin/true");
        by_hand("forkless-exec 01 20", "/bin/true");
        by_hand("forkless-exec 1 20 ", "/bin/true");
        by_hand("", "/bin/true");
        if (i == 0) { /* with a file that is not sealed, then with one that is no job */
            job = memfd_create("job", MFD_ALLOW_SEALING);
            CHECK_EQ(write(job, page, sizeof page), sizeof page);
            CHECK_EQ(pipe(report), 0);
            CHECK_EQ(dup2(job, 20), 20);
            CHECK_EQ(dup2(report[1], 21), 21);
        } else
            CHECK_EQ(fcntl(20, F_ADD, 0xf), i == 1 ? 0 : -1);
    }
    CHECK_EQ(lseek(out, 0, SEEK_END), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b110_missing_and_then_there), cmocka_unit_test(b110_not_executable),
        cmocka_unit_test(b110_not_a_program),          cmocka_unit_test(b110_another_version),
        cmocka_unit_test(b110_another_program),        cmocka_unit_test(set_uid_copy),
        cmocka_unit_test(b110_replaced_and_deleted),   cmocka_unit_test(started_by_hand),
    };
    return RUN(tests);
}
