/* A process locks itself out of the file system before it touches what an attacker has written. */
#ifndef BURIN_BASE_FENCE_H
#define BURIN_BASE_FENCE_H

/* From now on this process, its threads started later, and the programs it starts open no file but
 * what lies below the folders (a list ended by NULL; those that are missing are passed over), and
 * the file behind fd (-1: none); these only to read and to run. Descriptors that are open stay as
 * they are. Best effort: a kernel without Landlock (before Linux 5.13) leaves all as it was. */
void fence_files(const char *const *folders, int fd);

#endif
