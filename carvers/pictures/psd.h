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

struct psd {
	struct view *view;
	struct finding *finding;
	bool large; /* PSB: many lengths have 8 bytes instead of 4, and counts of rows 4 instead of
		       2 */
	uint32_t channels, width, height, depth, mode;
	bool stored;        /* the merged picture is not compressed */
	uint64_t at;        /* the next byte to read */
	uint64_t valid_end; /* end of what was recognised */
	const char *problem;
	/* A problem after which the walk could continue, or NULL; what was valid before it. */
	const char *odd;
	uint64_t odd_at, odd_valid_end;
	uint64_t unsure; /* where stored pixels begin that nothing shows to be pixels; 0: nowhere */
	uint64_t doubtful; /* where stored pixels may have been wiped; 0: nowhere */
	const char *what;  /* ... and with what */
};

enum psd_step psd_broken(struct psd *psd, uint64_t at, const char *problem);

/* Reads an integer of len bytes (2, 4 or 8) at psd->at and moves past it. False: the view ends. */
bool psd_read(struct psd *psd, int len, uint64_t *value);

/* Skips the section of layers that ends at `end`, from after its length. */
enum psd_step psd_skip_layers(struct psd *psd, uint64_t end);

#endif
