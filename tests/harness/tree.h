/* A tree in a temporary folder that stands in for /proc and /sys, fresh for each test. */
#ifndef TREE_H
#define TREE_H

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

int tree_make(void **unused);
int tree_remove(void **unused);

/* Writes one file of it, and its folders. */
void tree_file(const char *path, const char *text);

#endif
