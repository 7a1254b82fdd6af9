/* Which bytes look like a file's own, where its format does not show it. */
#ifndef BURIN_ASSEMBLE_AFFINITY_H
#define BURIN_ASSEMBLE_AFFINITY_H

#include "assemble/workbench.h"

/* What is known of a file's content, and of others'. */
struct affinity;

/* What is learnt from some places of the image, once: for all that put files of one together. Never NULL. */
struct affinity_samples *affinity_samples_new(void);
/* NULL is fine. */
void affinity_samples_free(struct affinity_samples *samples);

/* Knows nothing of the file, and some places of the image as others'. */
struct affinity *affinity_new(struct workbench *bench);
/* Learns from length bytes at offset in the evidence, as far as they are inside. */
void affinity_learn(struct affinity *affinity, struct workbench *bench, uint64_t offset,
	uint64_t length, bool is_own);
/* By how many bits the bytes at offset in the evidence, 64 KiB at most, look more like the file's own
 * than like others'. */
int64_t affinity_bits(
	struct affinity *affinity, struct workbench *bench, uint64_t offset, uint64_t length);
/* The bytes [from, to) of a file, as its own. */
void affinity_learn_file(struct affinity *affinity, struct workbench *bench,
	const struct extents *extents, uint64_t from, uint64_t to);
/* Of the first `length` bytes of a file, those before the first cluster at or after `from`, which is one's
 * beginning, that looks like the content of others rather than like what is before it. length: there is none. */
uint64_t affinity_same(
	struct workbench *bench, const struct extents *extents, uint64_t from, uint64_t length);
/* Whether the first bytes of the cluster at offset look more like others' content, by a bit each. Cheap when
 * asked again. */
bool affinity_is_unlikely(struct affinity *affinity, struct workbench *bench, uint64_t offset);
/* The same without counting, for several threads at a time. */
enum answer affinity_ask(const struct affinity *affinity, const struct workbench *bench,
	uint64_t offset, struct view *view);
void affinity_free(struct affinity *affinity);

#endif
