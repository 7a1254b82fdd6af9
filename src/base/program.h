/* Where this program is: its own files are beside it, wherever it was installed or unpacked. */
#ifndef BURIN_BASE_PROGRAM_H
#define BURIN_BASE_PROGRAM_H

#include <stddef.h>

/* The folder that the program lies in, without a slash at the end; NULL when the system does not say. The
 * caller frees it. */
char *program_folder(void);

/* From now on the answer is this folder: for a library, whose files are not beside the program that uses
 * it. Before anything else asks. */
void program_set_folder(const char *folder);
/* The path of a program that belongs to this one: it is in that folder, or in ../libexec/burin. The caller frees
 * it. NULL with the reason: there is none. */
char *program_find(const char *name, char *reason, size_t reason_len);

#endif
