/* The image of a walk as libtsk wants it: libtsk reads whatever burin reads, through the host. */
#ifndef BURIN_EVIDENCE_TSK_IMAGE_H
#define BURIN_EVIDENCE_TSK_IMAGE_H

#include <tsk/libtsk.h>

#include "confined/tsk_walk.h"

/* NULL when there is no memory. The caller closes it with tsk_img_close; host must outlive it. */
TSK_IMG_INFO *tsk_image_open(struct walk_host *host);

#endif
