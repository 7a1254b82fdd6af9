/*
 * What the parts of the JPEG carver share: jpeg.c walks a file from marker to marker,
 * jpeg_segments.c reads the segments that describe the picture, jpeg_scan.c skips coded data,
 * jpeg_huffman.c decodes it where it can (jpeg_fast.c and jpeg_lanes.c most of it; jpeg_stretch.c passes
 * over what another trial of a file in pieces decoded), jpeg_seam.c looks at where two pieces of a file
 * meet, jpeg_coded.c describes where one breaks off, jpeg_mpf.c walks further pictures after the first.
 */
#ifndef BURIN_CARVERS_PICTURES_JPEG_JPEG_H
#define BURIN_CARVERS_PICTURES_JPEG_JPEG_H

#include <stdbool.h>

#include "carver.h"

enum jpeg_marker {
	JPEG_SOF0 = 0xc0, /* baseline */
	JPEG_SOF1 = 0xc1, /* extended sequential */
	JPEG_SOF2 = 0xc2, /* progressive */
	JPEG_SOF3 = 0xc3, /* lossless; up to SOF15 = 0xcf further kinds */
	JPEG_DHT = 0xc4,
	JPEG_JPG = 0xc8,
	JPEG_DAC = 0xcc,
	JPEG_RST0 = 0xd0, /* to RST7 = 0xd7 */
	JPEG_SOI = 0xd8,
	JPEG_EOI = 0xd9,
	JPEG_SOS = 0xda,
	JPEG_DQT = 0xdb,
	JPEG_DNL = 0xdc,
	JPEG_DRI = 0xdd,
	JPEG_DHP = 0xde,
	JPEG_EXP = 0xdf,
	JPEG_APP0 = 0xe0, /* to APP15 = 0xef */
	JPEG_COM = 0xfe,
};

#define JPEG_COMPONENTS 4
/* A Huffman table as its segment has it. */
struct jpeg_code {
	bool defined;
	uint8_t counts[17]; /* how many codes have 1 to 16 bits */
	uint8_t values[256];
};

struct jpeg_component {
	uint8_t id, h, v, quant;
	uint8_t dc_table, ac_table; /* in the current scan */
	bool scanned;               /* some scan had its (first) data */
	uint32_t across, down;      /* blocks of 8 by 8 that cover its samples */
	uint32_t stride;            /* blocks of a row when rows are padded to whole MCUs */
	uint64_t *history; /* progressive: a bit for each coefficient, set once it is not 0; else
                             NULL */
};

/* Scans in which a check can go on from a state: progressive pictures have about ten. */
#define JPEG_SCAN_ENDS 32

/* A picture during the walk. Functions return what is wrong as a text, or NULL. */
struct jpeg {
	struct view *view;
	struct finding *finding;
	uint64_t start;     /* of the picture */
	uint64_t at;        /* the next marker, or where the walk failed */
	uint64_t valid_end; /* end of what was recognised, when the walk was cut or failed */
	uint8_t sof;        /* the marker of the frame, 0 before it */
	uint8_t precision;
	uint32_t width, height; /* height 0: DNL follows the first scan and has it */
	uint32_t mcus_across, mcus_down;
	uint8_t hmax, vmax;
	int component_count;
	struct jpeg_component components[JPEG_COMPONENTS];
	uint64_t *history;            /* that of all components; owned */
	uint64_t visits;              /* blocks of all progressive scans started */
	uint16_t quant[4][64];        /* in zigzag order; 0: unknown */
	struct jpeg_code codes[2][4]; /* DC, AC */
	uint32_t restart_interval;
	bool hierarchical;

	int scan_count; /* scans started */
	int in_scan;    /* components of the current scan */
	struct jpeg_component *scan[JPEG_COMPONENTS];
	uint8_t spectral_first, spectral_last, approx_high, approx_low;

	bool unread; /* tables or coded data can\'t be read: scans are not decoded further */
	bool video;  /* XMP declares that a video follows */
	uint64_t mpf, mpf_len; /* offset of MPF's TIFF head, 0: none */
	int evidence;          /* segments recognised by more than their marker */
	uint64_t extra_at;     /* bytes that are neither of the picture nor filling; 0: none */
	uint64_t scan_ends[JPEG_SCAN_ENDS]; /* where the first scans ended */
	bool saves;                         /* the first scans save states */
	uint64_t saved_at;                  /* where the last state was saved */
	const struct carve_state
		*resume;        /* the check goes on from there, in a scan; NULL: it starts */
	uint64_t passed;        /* segments that end up to there are right: of a state; 0: none */
	struct jpeg_seam *seam; /* that looks at the first scan's blocks; NULL: none */
	struct carve_coded *coded; /* describes the break in the first scan; NULL: none */
	bool portable;             /* decode without instructions that only some processors have */
	bool is_inner;             /* a thumbnail */
	bool eager;                /* decode at several places however short the scan is */
	unsigned rounds;           /* made so */
};

/* Reads the len bytes at p, after the length field, of a table or frame segment. */
const char *jpeg_read_segment(struct jpeg *jpeg, uint8_t marker, const uint8_t *p, size_t len);

enum jpeg_scan {
	JPEG_SCAN_DONE,   /* jpeg->at is the marker after the data */
	JPEG_SCAN_CUT,    /* the view ended */
	JPEG_SCAN_BROKEN, /* invalid from about jpeg->at on */
	JPEG_SCAN_SHORT,  /* jpeg->at is a valid EOI, but it comes before the end of the picture */
};

/* Skips the coded data at jpeg->at; *problem is what is broken. */
enum jpeg_scan jpeg_skip_scan(struct jpeg *jpeg, const char **problem);

/* Whether jpeg_decode_scan can decode the current scan. May allocate jpeg->history. */
bool jpeg_can_decode(struct jpeg *jpeg);
enum jpeg_scan jpeg_decode_scan(struct jpeg *jpeg, const char **problem);
/* Whether the scan at jpeg->at ended before the state that the check goes on from: then jpeg->at is the marker after it. */
bool jpeg_state_passes(struct jpeg *jpeg);

enum jpeg_walk {
	JPEG_WALK_DONE,   /* jpeg->at is after EOI */
	JPEG_WALK_SHORT,  /* the same, but coded data was missing before it */
	JPEG_WALK_CUT,    /* the view ended */
	JPEG_WALK_BROKEN, /* invalid from about jpeg->at on */
};

/* Walks the picture at offset start, from SOI to EOI; *problem is what is missing or broken. */
enum jpeg_walk jpeg_walk(struct jpeg *jpeg, uint64_t start, const char **problem);

/* Whether a picture of len bytes in a file is valid to its end; if not, *valid is up to where it is. */
bool jpeg_is_thumbnail(struct view *view, uint64_t at, uint64_t len, uint64_t *valid);

/* Walks the pictures that MPF lists after the first, which ends at jpeg->at, and moves jpeg->at and
 * valid_end past them. */
enum jpeg_walk jpeg_walk_others(struct jpeg *jpeg, const char **problem);

/* A stream of pictures (jpeg_stream.c). */
struct jpeg_stream {
	uint64_t frames, end; /* with the first picture */
	bool cut;             /* the last frame breaks off at end */
};

/* Walks the frames that follow the whole picture, which ends at first->valid_end, and names them as parts. False: it is a picture
 * alone. */
bool jpeg_walk_stream(struct jpeg *first, struct jpeg_stream *stream);

#endif
