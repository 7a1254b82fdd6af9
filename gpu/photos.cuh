/*
 * Decodes the coded data of photographs whose bytes are on the device for the search: the engine's part of
 * struct coded_scan (scan/scan.h). Of one device and one thread.
 */
#ifndef BURIN_GPU_PHOTOS_CUH
#define BURIN_GPU_PHOTOS_CUH

#include <cuda_runtime.h>

#include "gpu/photos.h"

extern "C" {
#include "scan/scan.h"
}

struct photo_decoder;

/* text_capacity: of the texts, bytes. The current device must be the same for all of these. */
cudaError_t photo_decoder_open(struct photo_decoder **decoder, size_t text_capacity);
/* NULL is fine. */
void photo_decoder_close(struct photo_decoder *decoder);

/* Puts the summaries of a text's tiles on the stream: of its first len bytes, of which text_len are there. */
cudaError_t photo_tiles_launch(const uint8_t *text, uint32_t len, uint32_t text_len,
	struct photo_tile *tiles, cudaStream_t stream);

/* As a row's decode_begin, of texts that follow each other in the image. */
struct coded_batch *photo_begin(struct photo_decoder *decoder, const struct photo_text *texts,
	unsigned text_count, struct coded_scan *scans, size_t count);
void photo_end(struct coded_batch *batch);
/* What is put on the stream from now on waits until the batches so far need their texts no more. */
cudaError_t photo_hold_back(struct photo_decoder *decoder, cudaStream_t stream);

#endif
