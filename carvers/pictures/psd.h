/* What the parts of the Photoshop carver share. */
#ifndef BURIN_CARVERS_PICTURES_PSD_H
#define BURIN_CARVERS_PICTURES_PSD_H

#include <stdbool.h>

#include "carver.h"

enum psd_step {
	PSD_ON,
	PSD_CUT,    /* the view ends before what has to come */
	PSD_BROKEN, /* psd->problem at psd->at */
};

struct psd {
	struct view *view;
	struct finding *finding;
	bool large; /* PSB: many lengths have 8 bytes instead of 4, and counts of rows 4 instead of
		       2 */
	uint32_t channels, width, height, depth, mode;
	bool stored;    /* the merged picture is not packed */
	uint64_t at;    /* where the walk is */
	uint64_t sound; /* behind what was recognised */
	const char *problem;
	/* The same where the walk could go on, or NULL; what was sound till then. */
	const char *odd;
	uint64_t odd_at, odd_sound;
	uint64_t doubtful; /* where stored pixels may have been wiped; 0: nowhere */
	const char *what;  /* ... with what */
};

enum psd_step psd_broken(struct psd *psd, uint64_t at, const char *problem);

/* Reads an integer of len bytes (2, 4 or 8) at psd->at and moves behind it. False: the view
 * ends. */
bool psd_read(struct psd *psd, int len, uint64_t *value);

/* Passes over the section of layers that ends at `end`, behind its length. */
enum psd_step psd_pass_layers(struct psd *psd, uint64_t end);

#endif
