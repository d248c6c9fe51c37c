/* Which mechanism a call takes. Private. */
#ifndef FL_POLICY_H
#define FL_POLICY_H

#define FL_SPAWN_MECHANISM FORKLESS_CLONE3_VFORK
#define FL_START_MECHANISM FORKLESS_CLONE3_VM

#endif
