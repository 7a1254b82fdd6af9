/* What the parts of the Photoshop carver share. */
#ifndef BURIN_CARVERS_PICTURES_PSD_H
#define BURIN_CARVERS_PICTURES_PSD_H

#include <stdbool.h>

#include "carver.h"

enum psd_step {
	PSD_ON,
	PSD_CUT,    /* the view ends too early */
	PSD_BROKEN, /* psd->problem at psd->at */
};

/* Rows of PackBits, after a table of their lengths. */
struct psd_rows {
	uint64_t known; /* from here on all bytes are checked */
	uint64_t table;
	uint64_t count, next; /* the row at psd->at is the next */
	uint64_t len;         /* bytes that each decompresses to */
};

enum psd_stage { PSD_CHANNELS, PSD_CHANNEL_ROWS, PSD_PICTURE };

/* Where a walk is that may go on later. */
struct psd_place {
	enum psd_stage stage;
	uint64_t info;        /* the length of the layers that are read */
	uint64_t info_end;    /* where they end */
	bool is_deep;         /* they are in a block after others */
	uint64_t section_end; /* where the section of layers and masks ends */
	uint64_t checked;     /* from here on all bytes were checked */
	uint64_t record;      /* of the layer whose channels are read */
	uint32_t layer, layers, channel;
	uint64_t channel_end;
	struct psd_rows rows;
};

struct psd {
	struct view *view;
	struct finding *finding;
	bool large; /* PSB: many lengths have 8 bytes instead of 4, and counts of rows 4 instead of
		       2 */
	uint32_t channels, width, height, depth, mode;
	bool in_pieces;     /* all is checked that can be */
	bool stored;        /* the merged picture is not compressed */
	uint64_t at;        /* the next byte to read */
	uint64_t valid_end; /* end of what was recognised */
	uint64_t saved_at;  /* the last state */
	const char *problem;
	/* A problem after which the walk could continue, or NULL; what was valid before it. Not in pieces. */
	const char *odd;
	uint64_t odd_at, odd_valid_end;
	uint64_t unsure; /* where stored pixels begin that nothing shows to be pixels; 0: nowhere */
	uint64_t doubtful; /* where stored pixels may have been wiped; 0: nowhere */
	const char *what;  /* ... and with what */
	struct psd_place place;
};

enum psd_step psd_broken(struct psd *psd, uint64_t at, const char *problem);

/* Reads an integer of len bytes (2, 4 or 8) at psd->at and moves past it. False: the view ends. */
bool psd_read(struct psd *psd, int len, uint64_t *value);

/* Bytes of a row of one channel, and of a number in a table of rows' lengths. */
uint64_t psd_row_len(const struct psd *psd, uint64_t width);
uint64_t psd_count_len(const struct psd *psd);

/* Skips the section of layers up to psd->place.section_end, from after its length. */
enum psd_step psd_skip_layers(struct psd *psd);
/* The rest of it, from psd->place on. */
enum psd_step psd_go_on(struct psd *psd);

/* Skips the rest of psd->place.rows, and declares what they prove. */
enum psd_step psd_check_rows(struct psd *psd);
/* Skips a stream of deflate that ends at `end` at the latest; UINT64_MAX: at its own. */
enum psd_step psd_check_deflated(struct psd *psd, uint64_t end);

/* Saves the place if states are wanted, and the last one is some way back. */
void psd_save(struct psd *psd);
void psd_load(struct psd *psd, const struct carve_state *state);

#endif
