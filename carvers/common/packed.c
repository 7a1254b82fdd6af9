/*
 * Each library has the same loop behind another interface: bytes go in, bytes come out, and a code
 * says how it went on. struct packed_decoder is what is common to them.
 *
 * Small files can be made that unpack for hours. Deflate can't pack tighter than 1032 to 1; what
 * goes far beyond that is given up.
 */
#include "packed.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "igzip.h"
#include "tar.h"
#include "walk.h"

#define OUTPUT_LEN 65536
#define MEMORY_MAX ((uint64_t)1 << 30)
#define WINDOW_LOG_MAX 30
#define LZMA2_DICTIONARY (64u << 20)
#define OUTPUT_BASE ((uint64_t)256 << 20)
#define OUTPUT_FACTOR 1100

enum step { STEP_MORE, STEP_DONE, STEP_BAD, STEP_REFUSE };

struct packed_decoder;

struct library {
	bool (*open)(struct packed_decoder *);
	enum step (*run)(struct packed_decoder *);
	void (*close)(struct packed_decoder *);
};

/* What one step of a library reads and writes; it moves the pointers and lowers the counts. */
struct packed_decoder {
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

static bool gzip_open(struct packed_decoder *decoder)
{
	return inflateInit2(&decoder->state.zlib, 15 + 16) == Z_OK;
}

static enum step gzip_run(struct packed_decoder *decoder)
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

static void gzip_close(struct packed_decoder *decoder)
{
	inflateEnd(&decoder->state.zlib);
}

static bool igzip_start(struct packed_decoder *decoder)
{
	decoder->state.igzip = igzip_open(true);
	return decoder->state.igzip != NULL;
}

static enum step igzip_step(struct packed_decoder *decoder)
{
	static const enum step steps[] = {
		[IGZIP_MORE] = STEP_MORE, [IGZIP_DONE] = STEP_DONE, [IGZIP_BAD] = STEP_BAD
	};

	return steps[igzip_run(decoder->state.igzip, &decoder->in, &decoder->in_left, decoder->out,
		&decoder->out_left)];
}

static void igzip_stop(struct packed_decoder *decoder)
{
	igzip_close(decoder->state.igzip);
}

static bool bzip2_open(struct packed_decoder *decoder)
{
	return BZ2_bzDecompressInit(&decoder->state.bzip2, 0, 0) == BZ_OK;
}

static enum step bzip2_run(struct packed_decoder *decoder)
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

static void bzip2_close(struct packed_decoder *decoder)
{
	BZ2_bzDecompressEnd(&decoder->state.bzip2);
}

static bool xz_open(struct packed_decoder *decoder)
{
	return lzma_stream_decoder(&decoder->state.lzma, MEMORY_MAX, 0) == LZMA_OK;
}

static bool lzma_open(struct packed_decoder *decoder)
{
	return lzma_alone_decoder(&decoder->state.lzma, MEMORY_MAX) == LZMA_OK;
}

/* A larger dictionary than the stream was packed with does no harm. */
static bool lzma2_open(struct packed_decoder *decoder)
{
	lzma_options_lzma options = { .dict_size = LZMA2_DICTIONARY };
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };

	return lzma_raw_decoder(&decoder->state.lzma, filters) == LZMA_OK;
}

static bool lzip_open(struct packed_decoder *decoder)
{
	return lzma_lzip_decoder(&decoder->state.lzma, MEMORY_MAX, 0) == LZMA_OK;
}

static enum step xz_run(struct packed_decoder *decoder)
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

static void xz_close(struct packed_decoder *decoder)
{
	lzma_end(&decoder->state.lzma);
}

static bool zstd_open(struct packed_decoder *decoder)
{
	decoder->state.zstd = ZSTD_createDStream();
	return decoder->state.zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(decoder->state.zstd,
					      ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
}

static enum step zstd_run(struct packed_decoder *decoder)
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

static void zstd_close(struct packed_decoder *decoder)
{
	ZSTD_freeDStream(decoder->state.zstd);
}

static bool lz4_open(struct packed_decoder *decoder)
{
	return !LZ4F_isError(LZ4F_createDecompressionContext(&decoder->state.lz4, LZ4F_VERSION));
}

static enum step lz4_run(struct packed_decoder *decoder)
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

static void lz4_close(struct packed_decoder *decoder)
{
	LZ4F_freeDecompressionContext(decoder->state.lz4);
}

static const struct library libraries[] = {
	[PACKED_GZIP] = { gzip_open, gzip_run, gzip_close },
	[PACKED_BZIP2] = { bzip2_open, bzip2_run, bzip2_close },
	[PACKED_XZ] = { xz_open, xz_run, xz_close },
	[PACKED_LZMA] = { lzma_open, xz_run, xz_close },
	[PACKED_LZMA2] = { lzma2_open, xz_run, xz_close },
	[PACKED_LZIP] = { lzip_open, xz_run, xz_close },
	[PACKED_ZSTD] = { zstd_open, zstd_run, zstd_close },
	[PACKED_LZ4] = { lz4_open, lz4_run, lz4_close },
};

/* For what is likely to be sound. */
static const struct library quick_gzip = { igzip_start, igzip_step, igzip_stop };

static void keep_head(struct packed *packed, const uint8_t *bytes, size_t len)
{
	size_t room = PACKED_HEAD_LEN - packed->head_len;

	packed->output_len += len;
	if (len > room)
		len = room;
	memcpy(packed->head + packed->head_len, bytes, len);
	packed->head_len += len;
}

/* Gives the decoder len bytes; packed->end moves over those it takes. */
static enum step feed(struct packed *packed, const uint8_t *bytes, size_t len)
{
	struct packed_decoder *decoder = packed->decoder;
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
		keep_head(packed, output, given);
		packed->end += taken;
		packed->input_len += taken;
		if (taken)
			packed->proven = packed->filled_at;
		if (given == sizeof(output))
			packed->filled_at = packed->end;
		if (step == STEP_MORE &&
			packed->output_len > OUTPUT_BASE + OUTPUT_FACTOR * packed->input_len)
			step = STEP_REFUSE;
	} while (step == STEP_MORE && (taken || given) &&
		 (decoder->in_left || given == sizeof(output)));
	return step == STEP_MORE && decoder->in_left ? STEP_BAD : step;
}

static bool open_library(struct packed *packed, const struct library *library)
{
	*packed = (struct packed){ .decoder = calloc(1, sizeof(*packed->decoder)) };
	if (!packed->decoder)
		return false;
	packed->decoder->library = library;
	if (library->open(packed->decoder))
		return true;
	packed_close(packed);
	return false;
}

bool packed_open(struct packed *packed, enum packed_format format)
{
	return open_library(packed, &libraries[format]);
}

enum packed_state packed_feed(struct packed *packed, struct view *view, uint64_t limit)
{
	static const enum packed_state states[] = { PACKED_CUT, PACKED_DONE, PACKED_BAD,
		PACKED_REFUSE };
	enum step step = STEP_MORE;
	const uint8_t *window;
	size_t len;

	while (step == STEP_MORE &&
		(window = walk_stream(view, packed->end, limit, packed->input_len, &len)))
		step = feed(packed, window, len);
	return states[step];
}

void packed_close(struct packed *packed)
{
	packed->decoder->library->close(packed->decoder);
	free(packed->decoder);
	packed->decoder = NULL;
}

static enum packed_state walk_with(struct view *view, const struct library *library, uint64_t at,
	uint64_t limit, struct packed *packed)
{
	enum packed_state state;

	if (!open_library(packed, library)) {
		packed->end = at;
		return PACKED_REFUSE;
	}
	packed->end = at;
	state = packed_feed(packed, view, limit);
	packed_close(packed);
	return state;
}

enum packed_state packed_walk(struct view *view, enum packed_format format, uint64_t at,
	uint64_t limit, struct packed *packed)
{
	if (format == PACKED_GZIP && walk_with(view, &quick_gzip, at, limit, packed) == PACKED_DONE)
		return PACKED_DONE;
	return walk_with(view, &libraries[format], at, limit, packed);
}

enum packed_content packed_content(const struct packed *packed)
{
	const uint8_t *head = packed->head;
	size_t len = packed->head_len;

	if (len >= TAR_BLOCK && tar_header(head))
		return PACKED_TAR;
	if (len >= 6 && memcmp(head, "07070", 5) == 0)
		return PACKED_CPIO;
	if (len >= 5 && head[0] == '<' && memmem(head, len, "<svg", 4))
		return PACKED_SVG;
	return PACKED_OTHER;
}
