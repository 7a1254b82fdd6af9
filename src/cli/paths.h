/* Where burin's own files are. */
#ifndef BURIN_CLI_PATHS_H
#define BURIN_CLI_PATHS_H

/* The default rule file: share/burin/burin.conf of the tree that the program was installed or
 * unpacked in, conf/burin.conf of the source tree that it was built in, else the one below the
 * PREFIX that it was built for (which need not exist). The caller frees the path. */
char *rules_default_path(void);

#endif
