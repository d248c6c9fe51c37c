/* Private. */
#ifndef FL_ENVIRONMENT_H
#define FL_ENVIRONMENT_H

/* What follows "NAME=" in the first entry of that name; NULL: there is none. */
const char *fl_environment_value(char *const envp[], const char *name);

#endif
