/*
 * LfGlobal (ISO/IEC 18181-1, G.1): patches, splines and noise if the frame has them, quantisation,
 * and the tree and code that all modular parts of the frame may use. Patches, splines and the tree
 * are entropy-coded separately, and each ends in the final state.
 */
#include "jxl_global.h"

#include <string.h>

#define PATCHES_MAX (1u << 24)
#define NOISE_NUMBERS 8
#define NOISE_BITS 10
#define SPLINE_NUMBERS (4 * 32)
#define BLOCK_CONTEXTS_MAX 64
#define BLOCK_ORDERS (3 * 13)
#define BLOCK_CLUSTERS_MAX 16

static void read_patch(
	struct jxl_bits *bits, struct jxl_code *code, uint32_t extra_count, bool first)
{
	enum { POSITION = 4, MODE, OFFSET, COUNT, ALPHA, CLAMP, MODES = 8, MULTIPLY = 3 };

	jxl_code_next(bits, code, first ? POSITION : OFFSET);
	jxl_code_next(bits, code, first ? POSITION : OFFSET);
	for (uint32_t i = 0; i <= extra_count && jxl_bits_ok(bits); i++) {
		uint32_t mode = jxl_code_next(bits, code, MODE);

		jxl_bits_expect(bits, mode < MODES);
		if (mode > MULTIPLY && extra_count > 1)
			jxl_bits_expect(bits, jxl_code_next(bits, code, ALPHA) < extra_count);
		if (mode >= MULTIPLY)
			jxl_code_next(bits, code, CLAMP);
	}
}

/* Reads where parts of an earlier frame are inserted into this one. */
static void read_patches(
	struct jxl_bits *bits, struct jxl_code *code, const struct jxl_image *image)
{
	enum { SOURCES, FRAME, SIZE, PLACE, COUNT = 7, FRAMES = 4 };
	uint32_t source_count = jxl_code_next(bits, code, SOURCES);
	uint64_t total = 0;

	jxl_bits_expect(bits, source_count > 0 && source_count <= PATCHES_MAX);
	for (uint32_t i = 0; i < source_count && jxl_bits_ok(bits); i++) {
		uint32_t count;

		jxl_bits_expect(bits, jxl_code_next(bits, code, FRAME) < FRAMES);
		for (unsigned k = 0; k < 2; k++)
			jxl_code_next(bits, code, PLACE);
		for (unsigned k = 0; k < 2; k++)
			jxl_code_next(bits, code, SIZE);
		count = jxl_code_next(bits, code, COUNT);
		total += count + UINT64_C(1);
		jxl_bits_expect(bits, total <= PATCHES_MAX / (image->extra_count + 1));
		for (uint64_t k = 0; k <= count && jxl_bits_ok(bits); k++)
			read_patch(bits, code, image->extra_count, k == 0);
	}
}

static void read_splines(
	struct jxl_bits *bits, struct jxl_code *code, const struct jxl_image *image)
{
	enum { ADJUSTMENT, START, SPLINES, POINTS, POINT, COSINES };
	uint64_t count = jxl_code_next(bits, code, SPLINES) + UINT64_C(1), points = 0;

	(void)image;
	jxl_bits_expect(bits, count <= PATCHES_MAX / SPLINE_NUMBERS);
	for (uint64_t i = 0; i < 2 * count && jxl_bits_ok(bits); i++)
		jxl_code_next(bits, code, START);
	jxl_code_next(bits, code, ADJUSTMENT);
	for (uint64_t i = 0; i < count && jxl_bits_ok(bits); i++) {
		uint32_t more = jxl_code_next(bits, code, POINTS);

		points += more;
		jxl_bits_expect(bits, points <= PATCHES_MAX);
		for (uint64_t k = 0; k < 2 * (uint64_t)more && jxl_bits_ok(bits); k++)
			jxl_code_next(bits, code, POINT);
		for (unsigned k = 0; k < SPLINE_NUMBERS; k++)
			jxl_code_next(bits, code, COSINES);
	}
}

static bool read_coded(struct jxl_bits *bits, size_t context_count, const struct jxl_image *image,
	void (*read)(struct jxl_bits *bits, struct jxl_code *code, const struct jxl_image *image))
{
	struct jxl_code code = { 0 };
	bool right = jxl_code_read(bits, context_count, &code) && jxl_code_begin(bits, &code, 0);

	if (right) {
		read(bits, &code, image);
		jxl_code_end(bits, &code);
	}
	jxl_code_free(&code);
	return right && jxl_bits_ok(bits);
}

/* Reads what the contexts of coefficient blocks depend on. */
static bool read_block_contexts(struct jxl_bits *bits)
{
	static const struct jxl_choice lf[4] = { { 4, 0 }, { 8, 16 }, { 16, 272 }, { 32, 65808 } };
	static const struct jxl_choice quant[4] = { { 2, 0 }, { 3, 4 }, { 5, 12 }, { 8, 44 } };
	uint8_t map[BLOCK_ORDERS * BLOCK_CONTEXTS_MAX] = { 0 };
	unsigned count = 1, n, cluster_count;

	if (jxl_bits_bool(bits))
		return true;
	for (unsigned i = 0; i < 3; i++) {
		n = jxl_bits_read(bits, 4);
		for (unsigned k = 0; k < n; k++)
			jxl_bits_u32(bits, lf);
		count *= n + 1;
	}
	n = jxl_bits_read(bits, 4);
	for (unsigned k = 0; k < n; k++)
		jxl_bits_u32(bits, quant);
	count *= n + 1;
	return count <= BLOCK_CONTEXTS_MAX &&
	       jxl_map_read(bits, map, BLOCK_ORDERS * count, &cluster_count) &&
	       cluster_count <= BLOCK_CLUSTERS_MAX;
}

static bool read_quantisation(struct jxl_bits *bits)
{
	static const struct jxl_choice scales[4] = { { 11, 1 }, { 11, 2049 }, { 12, 4097 },
		{ 16, 8193 } };
	static const struct jxl_choice steps[4] = { { 0, 16 }, { 5, 1 }, { 8, 1 }, { 16, 1 } };
	static const struct jxl_choice factors[4] = { { 0, 84 }, { 0, 256 }, { 8, 2 },
		{ 16, 258 } };

	jxl_bits_u32(bits, scales);
	jxl_bits_u32(bits, steps);
	if (!read_block_contexts(bits))
		return false;
	if (!jxl_bits_bool(bits)) {
		jxl_bits_u32(bits, factors);
		jxl_bits_f16(bits, 2);
		jxl_bits_read(bits, 16);
	}
	return jxl_bits_ok(bits);
}

bool jxl_global_read(struct jxl_bits *bits, const struct jxl_image *image,
	const struct jxl_frame *frame, struct jxl_tree *tree)
{
	enum { PATCH_CONTEXTS = 10, SPLINE_CONTEXTS = 6 };

	memset(tree, 0, sizeof(*tree));
	if ((frame->flags & JXL_PATCHES) && !read_coded(bits, PATCH_CONTEXTS, image, read_patches))
		return false;
	if ((frame->flags & JXL_SPLINES) && !read_coded(bits, SPLINE_CONTEXTS, image, read_splines))
		return false;
	if (frame->flags & JXL_NOISE)
		for (unsigned i = 0; i < NOISE_NUMBERS; i++)
			jxl_bits_read(bits, NOISE_BITS);
	if (!jxl_bits_bool(bits))
		jxl_bits_f16(bits, 3);
	if (!frame->modular && !read_quantisation(bits))
		return false;
	if (!jxl_bits_bool(bits))
		return jxl_bits_ok(bits);
	return jxl_tree_read(bits, tree);
}
