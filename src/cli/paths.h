/* Where burin finds its own files. */
#ifndef BURIN_CLI_PATHS_H
#define BURIN_CLI_PATHS_H

/* The rule file that is used when none is named: conf/burin.conf of the source tree when the
 * program runs out of its build folder, else the installed one. The caller frees it. Whether the
 * file is there is not looked at. */
char *rules_default_path(void);

#endif
