/* The image of a walk as libtsk wants it: libtsk reads whatever burin reads, through the host. */
#ifndef BURIN_FILESYSTEMS_TSK_IMAGE_H
#define BURIN_FILESYSTEMS_TSK_IMAGE_H

#include <tsk/libtsk.h>

#include "filesystems/tsk_walk.h"

/* NULL when there is no memory. The caller closes it with tsk_img_close; host must outlive it. */
TSK_IMG_INFO *tsk_image_open(struct walk_host *host);

#endif
