/* A file system's name and identifier, which libtsk does not report. */
#ifndef BURIN_FILESYSTEMS_FS_LABEL_H
#define BURIN_FILESYSTEMS_FS_LABEL_H

#include "filesystems/tsk_walk.h"

/* Fills in label and id of a volume whose file_system is known, as blkid shows them. What the file
 * system lacks stays "". */
void fs_label_find(struct walk_host *host, struct volume *volume);

#endif
