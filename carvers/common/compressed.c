/*
 * Every library has the same loop with another interface: bytes go in, bytes come out, and a code
 * says how it went. struct compressed_decoder is what they have in common.
 *
 * Small files can be made that take hours to decompress. Deflate cannot compress better than 1032
 * to 1; what goes far beyond that is abandoned.
 */
#include "compressed.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "igzip.h"
#include "tar_header.h"
#include "walk.h"

#define OUTPUT_LEN 65536
#define MEMORY_MAX ((uint64_t)1 << 30)
#define WINDOW_LOG_MAX 30
#define LZMA2_DICTIONARY (64u << 20)
#define OUTPUT_BASE ((uint64_t)256 << 20)
#define OUTPUT_FACTOR 1100

enum step { STEP_MORE, STEP_DONE, STEP_BAD, STEP_REFUSE };

struct compressed_decoder;

struct library {
	bool (*open)(struct compressed_decoder *);
	enum step (*run)(struct compressed_decoder *);
	void (*close)(struct compressed_decoder *);
};

/* What one step of a library reads and writes; the step advances the pointers and lowers the
 * counts. */
struct compressed_decoder {
	const struct library *library;
	const uint8_t *in;
	uint8_t *out;
	size_t in_left, out_left;
	union {
		z_stream zlib;
		struct inflate_state *igzip;
		bz_stream bzip2;
		lzma_stream lzma;
		ZSTD_DStream *zstd;
		LZ4F_dctx *lz4;
	} state;
};

static bool gzip_open(struct compressed_decoder *decoder)
{
	return inflateInit2(&decoder->state.zlib, 15 + 16) == Z_OK;
}

static enum step gzip_run(struct compressed_decoder *decoder)
{
	z_stream *stream = &decoder->state.zlib;
	int code;

	stream->next_in = (z_const Bytef *)decoder->in;
	stream->avail_in = (uInt)decoder->in_left;
	stream->next_out = decoder->out;
	stream->avail_out = (uInt)decoder->out_left;
	code = inflate(stream, Z_NO_FLUSH);
	decoder->in = stream->next_in;
	decoder->in_left = stream->avail_in;
	decoder->out_left = stream->avail_out;
	if (code == Z_STREAM_END)
		return STEP_DONE;
	return code == Z_OK || code == Z_BUF_ERROR ? STEP_MORE : STEP_BAD;
}

static void gzip_close(struct compressed_decoder *decoder)
{
	inflateEnd(&decoder->state.zlib);
}

static bool igzip_start(struct compressed_decoder *decoder)
{
	decoder->state.igzip = igzip_open(true);
	return decoder->state.igzip != NULL;
}

static enum step igzip_step(struct compressed_decoder *decoder)
{
	static const enum step steps[] = {
		[IGZIP_MORE] = STEP_MORE, [IGZIP_DONE] = STEP_DONE, [IGZIP_BAD] = STEP_BAD
	};

	return steps[igzip_run(decoder->state.igzip, &decoder->in, &decoder->in_left, decoder->out,
		&decoder->out_left)];
}

static void igzip_stop(struct compressed_decoder *decoder)
{
	igzip_close(decoder->state.igzip);
}

static bool bzip2_open(struct compressed_decoder *decoder)
{
	return BZ2_bzDecompressInit(&decoder->state.bzip2, 0, 0) == BZ_OK;
}

static enum step bzip2_run(struct compressed_decoder *decoder)
{
	bz_stream *stream = &decoder->state.bzip2;
	int code;

	stream->next_in = (char *)decoder->in;
	stream->avail_in = (unsigned)decoder->in_left;
	stream->next_out = (char *)decoder->out;
	stream->avail_out = (unsigned)decoder->out_left;
	code = BZ2_bzDecompress(stream);
	decoder->in = (const uint8_t *)stream->next_in;
	decoder->in_left = stream->avail_in;
	decoder->out_left = stream->avail_out;
	if (code == BZ_STREAM_END)
		return STEP_DONE;
	return code == BZ_OK ? STEP_MORE : STEP_BAD;
}

static void bzip2_close(struct compressed_decoder *decoder)
{
	BZ2_bzDecompressEnd(&decoder->state.bzip2);
}

static bool xz_open(struct compressed_decoder *decoder)
{
	return lzma_stream_decoder(&decoder->state.lzma, MEMORY_MAX, 0) == LZMA_OK;
}

static bool lzma_open(struct compressed_decoder *decoder)
{
	return lzma_alone_decoder(&decoder->state.lzma, MEMORY_MAX) == LZMA_OK;
}

/* A larger dictionary than the one used to compress does no harm. */
static bool lzma2_open(struct compressed_decoder *decoder)
{
	lzma_options_lzma options = { .dict_size = LZMA2_DICTIONARY };
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };

	return lzma_raw_decoder(&decoder->state.lzma, filters) == LZMA_OK;
}

static bool lzip_open(struct compressed_decoder *decoder)
{
	return lzma_lzip_decoder(&decoder->state.lzma, MEMORY_MAX, 0) == LZMA_OK;
}

static enum step xz_run(struct compressed_decoder *decoder)
{
	lzma_stream *stream = &decoder->state.lzma;
	lzma_ret code;

	stream->next_in = decoder->in;
	stream->avail_in = decoder->in_left;
	stream->next_out = decoder->out;
	stream->avail_out = decoder->out_left;
	code = lzma_code(stream, LZMA_RUN);
	decoder->in = stream->next_in;
	decoder->in_left = stream->avail_in;
	decoder->out_left = stream->avail_out;
	switch (code) {
	case LZMA_STREAM_END:
		return STEP_DONE;
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return STEP_MORE;
	case LZMA_MEMLIMIT_ERROR:
	case LZMA_MEM_ERROR:
		return STEP_REFUSE;
	default:
		return STEP_BAD;
	}
}

static void xz_close(struct compressed_decoder *decoder)
{
	lzma_end(&decoder->state.lzma);
}

static bool zstd_open(struct compressed_decoder *decoder)
{
	decoder->state.zstd = ZSTD_createDStream();
	return decoder->state.zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(decoder->state.zstd,
					      ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
}

static enum step zstd_run(struct compressed_decoder *decoder)
{
	ZSTD_inBuffer in = { decoder->in, decoder->in_left, 0 };
	ZSTD_outBuffer out = { decoder->out, decoder->out_left, 0 };
	size_t code = ZSTD_decompressStream(decoder->state.zstd, &out, &in);

	decoder->in += in.pos;
	decoder->in_left -= in.pos;
	decoder->out_left -= out.pos;
	if (ZSTD_isError(code))
		return STEP_BAD;
	return code == 0 ? STEP_DONE : STEP_MORE;
}

static void zstd_close(struct compressed_decoder *decoder)
{
	ZSTD_freeDStream(decoder->state.zstd);
}

static bool lz4_open(struct compressed_decoder *decoder)
{
	return !LZ4F_isError(LZ4F_createDecompressionContext(&decoder->state.lz4, LZ4F_VERSION));
}

static enum step lz4_run(struct compressed_decoder *decoder)
{
	size_t taken = decoder->in_left, given = decoder->out_left;
	size_t code = LZ4F_decompress(
		decoder->state.lz4, decoder->out, &given, decoder->in, &taken, NULL);

	if (LZ4F_isError(code))
		return STEP_BAD;
	decoder->in += taken;
	decoder->in_left -= taken;
	decoder->out_left -= given;
	return code == 0 ? STEP_DONE : STEP_MORE;
}

static void lz4_close(struct compressed_decoder *decoder)
{
	LZ4F_freeDecompressionContext(decoder->state.lz4);
}

static const struct library libraries[] = {
	[COMPRESSED_GZIP] = { gzip_open, gzip_run, gzip_close },
	[COMPRESSED_BZIP2] = { bzip2_open, bzip2_run, bzip2_close },
	[COMPRESSED_XZ] = { xz_open, xz_run, xz_close },
	[COMPRESSED_LZMA] = { lzma_open, xz_run, xz_close },
	[COMPRESSED_LZMA2] = { lzma2_open, xz_run, xz_close },
	[COMPRESSED_LZIP] = { lzip_open, xz_run, xz_close },
	[COMPRESSED_ZSTD] = { zstd_open, zstd_run, zstd_close },
	[COMPRESSED_LZ4] = { lz4_open, lz4_run, lz4_close },
};

/* For streams that are probably intact. */
static const struct library quick_gzip = { igzip_start, igzip_step, igzip_stop };

static void keep_head(struct compressed *stream, const uint8_t *bytes, size_t len)
{
	size_t room = COMPRESSED_HEAD_LEN - stream->head_len;

	stream->output_len += len;
	if (len > room)
		len = room;
	memcpy(stream->head + stream->head_len, bytes, len);
	stream->head_len += len;
}

/* Feeds the decoder len bytes; stream->end advances over those it consumes. */
static enum step feed(struct compressed *stream, const uint8_t *bytes, size_t len)
{
	struct compressed_decoder *decoder = stream->decoder;
	uint8_t output[OUTPUT_LEN];
	size_t taken, given;
	enum step step;

	decoder->in = bytes;
	decoder->in_left = len;
	do {
		taken = decoder->in_left;
		decoder->out = output;
		decoder->out_left = sizeof(output);
		step = decoder->library->run(decoder);
		taken -= decoder->in_left;
		given = sizeof(output) - decoder->out_left;
		keep_head(stream, output, given);
		stream->end += taken;
		stream->input_len += taken;
		if (taken)
			stream->proven = stream->filled_at;
		if (given == sizeof(output))
			stream->filled_at = stream->end;
		if (step == STEP_MORE &&
			stream->output_len > OUTPUT_BASE + OUTPUT_FACTOR * stream->input_len)
			step = STEP_REFUSE;
	} while (step == STEP_MORE && (taken || given) &&
		 (decoder->in_left || given == sizeof(output)));
	return step == STEP_MORE && decoder->in_left ? STEP_BAD : step;
}

static bool open_library(struct compressed *stream, const struct library *library)
{
	*stream = (struct compressed){ .decoder = calloc(1, sizeof(*stream->decoder)) };
	if (!stream->decoder)
		return false;
	stream->decoder->library = library;
	if (library->open(stream->decoder))
		return true;
	compressed_close(stream);
	return false;
}

bool compressed_open(struct compressed *stream, enum compressed_format format)
{
	return open_library(stream, &libraries[format]);
}

enum compressed_state compressed_feed(struct compressed *stream, struct view *view, uint64_t limit)
{
	static const enum compressed_state states[] = { COMPRESSED_CUT, COMPRESSED_DONE,
		COMPRESSED_BAD, COMPRESSED_REFUSED };
	enum step step = STEP_MORE;
	const uint8_t *window;
	size_t len;

	while (step == STEP_MORE &&
		(window = walk_stream(view, stream->end, limit, stream->input_len, &len)))
		step = feed(stream, window, len);
	return states[step];
}

void compressed_close(struct compressed *stream)
{
	stream->decoder->library->close(stream->decoder);
	free(stream->decoder);
	stream->decoder = NULL;
}

static enum compressed_state walk_with(struct view *view, const struct library *library,
	uint64_t at, uint64_t limit, struct compressed *stream)
{
	enum compressed_state state;

	if (!open_library(stream, library)) {
		stream->end = at;
		return COMPRESSED_REFUSED;
	}
	stream->end = at;
	state = compressed_feed(stream, view, limit);
	compressed_close(stream);
	return state;
}

enum compressed_state compressed_walk(struct view *view, enum compressed_format format, uint64_t at,
	uint64_t limit, struct compressed *stream)
{
	if (format == COMPRESSED_GZIP &&
		walk_with(view, &quick_gzip, at, limit, stream) == COMPRESSED_DONE)
		return COMPRESSED_DONE;
	return walk_with(view, &libraries[format], at, limit, stream);
}

enum compressed_content compressed_content(const struct compressed *stream)
{
	const uint8_t *head = stream->head;
	size_t len = stream->head_len;

	if (len >= TAR_BLOCK && tar_header(head))
		return COMPRESSED_TAR;
	if (len >= 6 && memcmp(head, "07070", 5) == 0)
		return COMPRESSED_CPIO;
	if (len >= 5 && head[0] == '<' && memmem(head, len, "<svg", 4))
		return COMPRESSED_SVG;
	return COMPRESSED_OTHER;
}
