/*
 * Every library has the same loop with another interface: bytes go in, bytes come out, and a code
 * says how it went. struct compressed_decoder is what they have in common.
 *
 * Small files can be made that take hours to decompress. Deflate cannot compress better than 1032
 * to 1; a stream that goes far beyond that is abandoned. A file of many streams is bounded by its
 * work, which each library weighs: what it takes for a byte of input, which is dense, and for a byte
 * of output, which may be one of a long run.
 *
 * Decoders with large windows wait until the process has memory for them (view_reserve), so that
 * many threads do not need the largest window each. Most windows are small and need not wait.
 */
#include "compressed.h"

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "bytes.h"
#include "igzip.h"
#include "tar_header.h"
#include "walk.h"

#define OUTPUT_LEN 65536
#define MEMORY_MAX ((uint64_t)1 << 30)
#define MEMORY_SMALL ((uint64_t)16 << 20) /* needs no reservation */
#define WINDOW_LOG_MAX 30
#define LZMA2_DICTIONARY (64u << 20)
#define LZMA2_SHORT ((uint64_t)64 << 10) /* streams whose chunks are looked at first */
#define LZMA2_HEADER_LEN 6
#define OUTPUT_BASE ((uint64_t)256 << 20)
#define OUTPUT_FACTOR 1100

enum step { STEP_MORE, STEP_DONE, STEP_BAD, STEP_REFUSE, STEP_NO_MEMORY };

struct compressed_decoder;

struct library {
	bool (*open)(struct compressed_decoder *);
	enum step (*run)(struct compressed_decoder *);
	void (*close)(struct compressed_decoder *);
	unsigned input_work, output_shift; /* units of work: input * input_work + output >>
					      output_shift; measured at 5 ns a unit for text */
	unsigned
		start_work; /* of a stream: bzip2 decodes up to 900,000 bytes before it gives one */
};

/* What one step of a library reads and writes; the step advances the pointers and lowers the
 * counts. */
struct compressed_decoder {
	const struct library *library;
	struct view *view;
	uint64_t at, limit; /* of the stream; [0, UINT64_MAX) while they are not known */
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
	if (code == Z_MEM_ERROR)
		return STEP_NO_MEMORY;
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
	if (code == BZ_MEM_ERROR)
		return STEP_NO_MEMORY;
	return code == BZ_OK ? STEP_MORE : STEP_BAD;
}

static void bzip2_close(struct compressed_decoder *decoder)
{
	BZ2_bzDecompressEnd(&decoder->state.bzip2);
}

static bool xz_open(struct compressed_decoder *decoder)
{
	return lzma_stream_decoder(&decoder->state.lzma, MEMORY_SMALL, 0) == LZMA_OK;
}

static bool lzma_open(struct compressed_decoder *decoder)
{
	return lzma_alone_decoder(&decoder->state.lzma, MEMORY_SMALL) == LZMA_OK;
}

/* As large as the output of a short stream, as the headers of its chunks give it. How large the dictionary was
 * with which it was compressed does not stand there; a larger one does no harm. */
static uint32_t lzma2_dictionary(const struct compressed_decoder *decoder)
{
	uint64_t at = decoder->at;
	uint32_t len = 0;
	const uint8_t *p;

	if (decoder->limit - at > LZMA2_SHORT)
		return LZMA2_DICTIONARY;
	while (at < decoder->limit && len < LZMA2_DICTIONARY &&
		(p = view_peek(decoder->view, at, LZMA2_HEADER_LEN)) && *p) {
		bool is_compressed = *p & 0x80;

		len += (is_compressed ? (*p & 31u) << 16 : 0) + be16(p + 1) + 1u;
		at += is_compressed ? be16(p + 3) + 6u + (*p >= 0xc0) : be16(p + 1) + 4u;
	}
	return len < LZMA2_DICTIONARY ? len : LZMA2_DICTIONARY;
}

static bool lzma2_open(struct compressed_decoder *decoder)
{
	lzma_options_lzma options = { .dict_size = lzma2_dictionary(decoder) };
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };

	if (options.dict_size > MEMORY_SMALL)
		view_reserve(decoder->view, options.dict_size);
	return lzma_raw_decoder(&decoder->state.lzma, filters) == LZMA_OK;
}

static bool lzip_open(struct compressed_decoder *decoder)
{
	return lzma_lzip_decoder(&decoder->state.lzma, MEMORY_SMALL, 0) == LZMA_OK;
}

/* Lets the decoder have the memory that it lacks. False: too much. */
static bool raise_limit(struct compressed_decoder *decoder)
{
	uint64_t needed = lzma_memusage(&decoder->state.lzma);

	return needed <= MEMORY_MAX && view_reserve(decoder->view, needed) &&
	       lzma_memlimit_set(&decoder->state.lzma, needed) == LZMA_OK;
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
	while (code == LZMA_MEMLIMIT_ERROR && raise_limit(decoder))
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
		return STEP_REFUSE;
	case LZMA_MEM_ERROR:
		return STEP_NO_MEMORY;
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
		return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? STEP_NO_MEMORY
									       : STEP_BAD;
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

	if (LZ4F_isError(code)) /* liblz4 exports the names of its errors, not the numbers */
		return strcmp(LZ4F_getErrorName(code), "ERROR_allocation_failed") == 0
			       ? STEP_NO_MEMORY
			       : STEP_BAD;
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
	[COMPRESSED_GZIP] = { gzip_open, gzip_run, gzip_close, 1, 4, 0 },
	[COMPRESSED_BZIP2] = { bzip2_open, bzip2_run, bzip2_close, 16, 0, 65536 },
	[COMPRESSED_XZ] = { xz_open, xz_run, xz_close, 7, 2, 0 },
	[COMPRESSED_LZMA] = { lzma_open, xz_run, xz_close, 7, 2, 0 },
	[COMPRESSED_LZMA2] = { lzma2_open, xz_run, xz_close, 7, 2, 0 },
	[COMPRESSED_LZIP] = { lzip_open, xz_run, xz_close, 7, 2, 0 },
	[COMPRESSED_ZSTD] = { zstd_open, zstd_run, zstd_close, 2, 3, 0 },
	[COMPRESSED_LZ4] = { lz4_open, lz4_run, lz4_close, 1, 3, 0 },
};

/* For streams that are probably intact. */
static const struct library quick_gzip = { igzip_start, igzip_step, igzip_stop, 1, 4, 0 };

#define ZSTD_HEADER_MAX 14

/* The window that the header of the Zstandard frame at `at` asks for; 0: none, as there is no
 * frame. */
static uint64_t zstd_window(struct view *view, uint64_t at)
{
	static const uint8_t id_lens[] = { 0, 1, 2, 4 };
	uint64_t left = view_size(view) - at, size;
	size_t len = left < ZSTD_HEADER_MAX ? (size_t)left : ZSTD_HEADER_MAX;
	const uint8_t *p = view_peek(view, at, len);
	uint8_t header[ZSTD_HEADER_MAX + 8] = { 0 }, descriptor;

	if (!p)
		return 0;
	memcpy(header, p, len);
	descriptor = header[4];
	if (le32(header) != 0xfd2fb528)
		return 0;
	if (!(descriptor & 0x20)) {
		size = (uint64_t)1 << (10 + (header[5] >> 3));
		return size + size / 8 * (header[5] & 7);
	}
	p = header + 5 + id_lens[descriptor & 3];
	size = le64(p);
	return descriptor >> 6 == 3   ? size
	       : descriptor >> 6 == 2 ? (uint32_t)size
				      : (uint16_t)size + 256u;
}

/* Waits for the memory that a Zstandard frame needs, before its decoder allocates it. */
static void reserve_window(const struct compressed *stream)
{
	const struct compressed_decoder *decoder = stream->decoder;
	uint64_t window;

	if (decoder->library != &libraries[COMPRESSED_ZSTD] || stream->input_len)
		return;
	window = zstd_window(decoder->view, stream->end);
	if (window > MEMORY_SMALL && window <= (uint64_t)1 << WINDOW_LOG_MAX)
		view_reserve(decoder->view, window);
}

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
		if (!view_work(decoder->view, taken * decoder->library->input_work +
						      (given >> decoder->library->output_shift)))
			step = step == STEP_MORE ? STEP_REFUSE : step;
		if (step == STEP_MORE &&
			stream->output_len > OUTPUT_BASE + OUTPUT_FACTOR * stream->input_len)
			step = STEP_REFUSE;
	} while (step == STEP_MORE && (taken || given) &&
		 (decoder->in_left || given == sizeof(output)));
	if (step == STEP_NO_MEMORY)
		view_no_memory(decoder->view);
	return step == STEP_MORE && decoder->in_left ? STEP_BAD : step;
}

static bool open_library(struct compressed *stream, struct view *view,
	const struct library *library, uint64_t at, uint64_t limit)
{
	*stream = (struct compressed){ .decoder = calloc(1, sizeof(*stream->decoder)) };
	if (stream->decoder) {
		stream->decoder->library = library;
		stream->decoder->view = view;
		stream->decoder->at = at;
		stream->decoder->limit = limit;
		/* When the work is spent, the view gives no input. */
		view_work(view, library->start_work);
		if (library->open(stream->decoder))
			return true;
		compressed_close(stream);
	}
	view_no_memory(view);
	return false;
}

bool compressed_open(struct compressed *stream, struct view *view, enum compressed_format format)
{
	return open_library(stream, view, &libraries[format], 0, UINT64_MAX);
}

enum compressed_state compressed_feed(struct compressed *stream, uint64_t limit)
{
	static const enum compressed_state states[] = { COMPRESSED_CUT, COMPRESSED_DONE,
		COMPRESSED_BAD, COMPRESSED_REFUSED, COMPRESSED_REFUSED };
	struct view *view = stream->decoder->view;
	enum step step = STEP_MORE;
	const uint8_t *window;
	size_t len;

	reserve_window(stream);
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

	if (!open_library(stream, view, library, at, limit)) {
		stream->end = at;
		return COMPRESSED_REFUSED;
	}
	stream->end = at;
	state = compressed_feed(stream, limit);
	compressed_close(stream);
	return state;
}

unsigned compressed_checksum_bits(struct view *view, enum compressed_format format, uint64_t at)
{
	const uint8_t *p;

	switch (format) {
	case COMPRESSED_GZIP:
	case COMPRESSED_BZIP2:
	case COMPRESSED_LZIP:
		return 32;
	case COMPRESSED_XZ: /* 1: CRC-32, 4: CRC-64, 10: SHA-256 */
		p = view_peek(view, at, 8);
		return p && p[7] ? 32 : 0;
	case COMPRESSED_ZSTD: /* the frame's flags; skippable ones have another signature */
	case COMPRESSED_LZ4:
		p = view_peek(view, at, 5);
		return p && (p[0] & 0xf0) != 0x50 && p[4] & 4 ? 32 : 0;
	default:
		return 0;
	}
}

enum compressed_state compressed_walk(struct view *view, enum compressed_format format, uint64_t at,
	uint64_t limit, struct compressed *stream)
{
	enum compressed_state state = COMPRESSED_BAD;
	unsigned bits = compressed_checksum_bits(view, format, at);

	if (format == COMPRESSED_GZIP)
		state = walk_with(view, &quick_gzip, at, limit, stream);
	if (format != COMPRESSED_GZIP || (state != COMPRESSED_DONE && state != COMPRESSED_REFUSED))
		state = walk_with(view, &libraries[format], at, limit, stream);
	if (state == COMPRESSED_DONE)
		view_proved(view, at, stream->end, bits);
	return state;
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
