/*
 * Wu-Manber after Kouzinopoulos et al., algorithms 4 and 5: what one thread does (for device and
 * host), and making the tables. wm.cu explains it.
 */
#ifndef BURIN_GPU_PAPERS_WM_H
#define BURIN_GPU_PAPERS_WM_H

#include "gpu/papers/subchunk.h"

#define WM_B 3        /* bytes of a block of characters: B */
#define WM_B_PREFIX 2 /* and of the prefix: B' */
#define WM_BITSHIFT 2
#define WM_HASHES (256 * (1 + 4 + 16)) /* their size of SHIFT, more than h1 takes */
#define WM_NONE UINT32_MAX

/*
 * m is the length of the window: of the shortest keyword that has at least B bytes. SHIFT, HASH and
 * PREFIX are made from the first m bytes of keywords.
 */
struct wm_tables {
	uint32_t m;              /* 0: no keyword has B bytes */
	uint32_t longest;        /* keyword, bytes; at least 1 */
	const uint32_t *shift;   /* SHIFT: WM_HASHES */
	const uint32_t *first;   /* HASH[h] is members[first[h]] to members[first[h + 1]] */
	const uint32_t *members; /* keywords by the hash of their suffix in the window */
	const uint32_t *prefix;  /* PREFIX of each keyword */
	const uint8_t *bytes;    /* of the keywords, each a row of `longest` */
	uint32_t member_count;
	bool round_robin; /* wm-r16, wm-cw: fetched words are stored in turns (section 4.2.2) */
	/* The companion pass: the keyword of one byte, or of two, that is these, or WM_NONE. */
	const uint32_t *singles; /* 256; NULL when no keyword is shorter than B */
	const uint32_t *pairs;   /* 65,536, by first byte << 8 | second */
	struct found found;
};

#ifdef __CUDACC__
/* The tables as texture objects (cudaTextureObject_t). */
struct wm_textures {
	unsigned long long shift, first, members, prefix, bytes;
};
#endif

/* From where the tables are read. */
struct wm_view {
	const struct wm_tables *tables;
#ifdef __CUDACC__
	bool textured; /* a constant to the compiler */
	const struct wm_textures *textures;
#endif
};

#ifdef __CUDA_ARCH__
#define WM_READ(view, type, table, at) \
	((view)->textured ? tex1Dfetch<type>((view)->textures->table, (int)(at)) \
			  : (view)->tables->table[at])
#else
#define WM_READ(view, type, table, at) ((view)->tables->table[at])
#endif

/* h2, of the first B' bytes: shift and add. */
GPU_INLINE uint32_t wm_prefix(uint8_t a, uint8_t b)
{
	return ((uint32_t)a << WM_BITSHIFT) + b;
}

/* h1, of a block of B bytes. */
GPU_INLINE uint32_t wm_hash(uint8_t a, uint8_t b, uint8_t c)
{
	return (wm_prefix(a, b) << WM_BITSHIFT) + c;
}

/* Whether the keyword begins at start, byte by byte. */
GPU_INLINE bool wm_verify(const struct wm_view *view, uint32_t keyword, uint32_t start,
	const struct subchunk *own, const struct gpu_text *text)
{
	uint32_t len = view->tables->found.keywords[keyword].len;
	size_t row = (size_t)keyword * view->tables->longest;
	if (len > text->len - start)
		return false;
	for (uint32_t i = 0; i < len; i++)
		if (WM_READ(view, uint8_t, bytes, row + i) != subchunk_byte(own, start + i))
			return false;
	return true;
}

/* The window that starts at start has a suffix with hash h and SHIFT[h] = 0. */
GPU_INLINE void wm_compare(const struct wm_view *view, uint32_t h, uint32_t start,
	const struct subchunk *own, const struct gpu_text *text,
	const struct subchunk_output *output)
{
	uint32_t prefix = wm_prefix(subchunk_byte(own, start), subchunk_byte(own, start + 1));
	uint32_t end = WM_READ(view, uint32_t, first, h + 1);
	for (uint32_t i = WM_READ(view, uint32_t, first, h); i < end; i++) {
		uint32_t keyword = WM_READ(view, uint32_t, members, i);
		if (WM_READ(view, uint32_t, prefix, keyword) == prefix &&
			wm_verify(view, keyword, start, own, text))
			subchunk_found(output, &view->tables->found, keyword, start, text);
	}
}

/* The keywords of one byte and of two. */
GPU_INLINE void wm_companion(const struct wm_tables *tables, const struct subchunk *own,
	const struct gpu_text *text, const struct subchunk_output *output)
{
	for (uint32_t at = own->begin; at < own->end; at++) {
		uint8_t byte = subchunk_byte(own, at);
		uint32_t keyword = tables->singles[byte];
		if (keyword != WM_NONE)
			subchunk_found(output, &tables->found, keyword, at, text);
		if (!tables->pairs || at + 1 >= text->len)
			continue;
		keyword = tables->pairs[byte << 8 | subchunk_byte(own, at + 1)];
		if (keyword != WM_NONE)
			subchunk_found(output, &tables->found, keyword, at, text);
	}
}

/* Algorithm 7, and the search of algorithm 9, counted by where windows start rather than end. */
GPU_INLINE void wm_search(const struct wm_view *view, const struct subchunk *own,
	const struct gpu_text *text, const struct subchunk_output *output)
{
	const struct wm_tables *tables = view->tables;
	uint32_t m = tables->m;
	if (tables->singles)
		wm_companion(tables, own, text, output);
	if (!m || text->len < m)
		return;
	uint32_t last = text->len - m + 1, end = own->end < last ? own->end : last;
	for (uint32_t start = own->begin; start < end;) {
		uint32_t at = start + m - WM_B;
		uint32_t h = wm_hash(subchunk_byte(own, at), subchunk_byte(own, at + 1),
			subchunk_byte(own, at + 2));
		uint32_t shift = WM_READ(view, uint32_t, shift, h);
		if (!shift) {
			wm_compare(view, h, start, own, text, output);
			shift = 1;
		}
		start += shift;
	}
}

#ifdef __CUDACC__
extern "C" {
#endif
struct gpu_program;
struct gpu_tuning;
struct pattern_set;
struct error;

/* The functions of the kernel rows (gpu/kernel.h) and of the CPU engine (gpu/papers/cpu_sequential.h). */
int wm_compile(struct gpu_program **program, const struct pattern_set *set,
	const struct gpu_tuning *tuning, struct error *error);
void wm_free(struct gpu_program *program);
void wm_describe(const struct gpu_program *program, char *text, size_t len);
/* All of the text by one thread. */
void wm_run(const struct gpu_program *program, const struct gpu_text *text,
	const struct gpu_hits *hits);
/* The tables in host memory. */
const struct wm_tables *wm_tables(const struct gpu_program *program);
#ifdef __CUDACC__
}
#endif

#endif
