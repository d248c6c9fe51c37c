/* What runs between clone and exec, in the parent's memory. Private. */
#ifndef FL_CHILD_H
#define FL_CHILD_H

/* Entry points on the slot's stack; the argument is the slot. They leave by exec or exit. */
void fl_child(void *slot);
/* Only exits. */
void fl_child_self_test(void *slot);

#endif
