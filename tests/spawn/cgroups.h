/* A cgroup (v2) of a test's own. */
#ifndef CGROUPS_H
#define CGROUPS_H

enum { CGROUP_PATH = 128 };

/* Its folder, open; its path. Skips the test where none can be made. */
int cgroup_made(char path[CGROUP_PATH]);

/* Its last member may still be on the way out. */
void cgroup_removed(const char *path);

#endif
