/*
 * Who is asked for what takes much arithmetic (search_device.h): the device that was opened, and once it
 * fails, or without one, the processor, which gives the same answers. All threads use one.
 */
#ifndef BURIN_ASSEMBLE_SEARCHER_H
#define BURIN_ASSEMBLE_SEARCHER_H

#include "assemble/clusters.h"
#include "assemble/search_device.h"
#include "base/pool.h"
#include "evidence/image.h"

struct searcher;

/* tool: NULL, or what opens the devices. Without a device that can be used it is the processor. Clusters have
 * numbers, from 0 on, that stay theirs. Never NULL. */
struct searcher *searcher_new(
	const struct search_tool *tool, const char *devices, const struct clusters *clusters);
/* NULL is fine. */
void searcher_free(struct searcher *searcher);
/* Whether there is a device, and it works. */
bool searcher_has_device(const struct searcher *searcher);
/* hits->count and their order are the same from every searcher. */
void searcher_find_breaks(
	struct searcher *searcher, const struct crc_search *search, struct crc_hits *hits);

/* As a tool's find_words; without a device no stretch is answered. */
void searcher_find_words(struct searcher *searcher, const struct kept_text *kept,
	const struct word_question *question, struct word_answer *hits);

/* Where a cluster is in the image. */
uint64_t searcher_place(const struct searcher *searcher, uint64_t number);
/* False: no cluster begins at offset. */
bool searcher_number(const struct searcher *searcher, uint64_t offset, uint64_t *number);
/* Bytes of a cluster that decide whether it may go on with coded data: all, or the first SEARCH_HEAD_MAX. */
size_t searcher_head_len(const struct searcher *searcher);
/* Clusters of which the first bytes are read together. */
#define SEARCHER_SPAN 64
/* Copies the heads, searcher_head_len bytes each, of SEARCHER_SPAN clusters from this number on, a multiple of it;
 * what is not in the image is zeros. Spans near each other are kept for all threads, in 32 MiB at most. image_was_cut
 * shows whether they can be used. */
void searcher_read_heads(
	struct searcher *searcher, struct image *image, uint64_t first, uint8_t *heads);
/* The device, if there is one, gets the first bytes of as many clusters as it has room for: what the scan has kept there
 * (NULL: nothing), and what the pool's threads read. Once, while nobody else asks. False: interrupted, or the image
 * became unreadable. */
bool searcher_keep_heads(struct searcher *searcher, struct image *image,
	const struct clusters *clusters, const struct kept_text *kept, struct pool *pool,
	bool (*interrupted)(void));
/* How many clusters, from 0 on, a device has: a multiple of 64; and the first bytes of each. */
uint64_t searcher_kept(const struct searcher *searcher);
size_t searcher_kept_len(const struct searcher *searcher);
/* As a tool's find_coded, for clusters that it has: what threads ask while the device answers others is asked together.
 * *is_rough: it has less of them than decides, so that those which may go on are to be looked at again. False: the
 * device can't be used any longer. */
bool searcher_find_coded(struct searcher *searcher, const struct coded_question *questions,
	size_t count, bool *is_rough);

#endif
