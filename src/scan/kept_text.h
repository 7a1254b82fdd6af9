/*
 * Text that a GPU engine has searched and keeps on its GPUs for what follows the scan, so that it need not be read and
 * brought there again. One thread at a time.
 */
#ifndef BURIN_SCAN_KEPT_TEXT_H
#define BURIN_SCAN_KEPT_TEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kept_text;

/* For an image of `len` bytes, on the GPUs that --gpus means. NULL: there are none, or they have not room for twice as
 * much. */
struct kept_text *kept_text_new(const char *devices, uint64_t len);
/* After the engine is closed, or has no chunk in flight any more. NULL is fine. */
void kept_text_free(struct kept_text *kept);

#ifdef __cplusplus
}
#endif

#endif
