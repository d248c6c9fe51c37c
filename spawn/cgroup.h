/* Private. */
#ifndef FL_CGROUP_H
#define FL_CGROUP_H

#include "forkless.h"

/* 0; or why a child that shares its caller's memory must not be born in this cgroup, told. */
int fl_cgroup_check(int fd, forkless_error *);

#endif
