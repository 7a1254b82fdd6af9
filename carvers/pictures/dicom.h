/* What the parts of the DICOM carver share: dicom.c reads the head and decides the verdict,
 * dicom_data.c walks the data set. */
#ifndef BURIN_CARVERS_PICTURES_DICOM_H
#define BURIN_CARVERS_PICTURES_DICOM_H

#include <stdbool.h>

#include "carver.h"

#define DICOM_TAG(group, element) ((uint32_t)(group) << 16 | (element))
#define DICOM_UNDEFINED UINT32_MAX

struct dicom_coding {
	bool implicit, big_endian;
};

struct dicom_element {
	uint64_t at, value; /* where it starts, and where its value starts */
	uint32_t tag, len;  /* len may be DICOM_UNDEFINED */
	char vr[3];         /* "" when the coding has none */
};

enum dicom_state {
	DICOM_ELEMENT,
	DICOM_NONE, /* not an element */
	DICOM_CUT,  /* its head ends past the view */
};

/* The result of walking a data set. */
struct dicom_data {
	struct view *view;
	struct dicom_coding coding;
	uint64_t end;       /* end of the last complete element of the outermost level */
	uint64_t confirmed; /* how far the elements confirm each other */
	uint64_t wanted;    /* where an element that the view cuts off would end, or 0 */
	uint64_t broken;    /* where a sequence is invalid, or 0 */
	uint32_t last_tag;
	unsigned count;        /* elements of the outermost level */
	bool pixels;           /* has pixel data */
	bool image;            /* has the class, or the rows, of a picture */
	char date[8], time[6]; /* digits, or zeros */
};

enum dicom_state dicom_read(struct view *view, const struct dicom_coding *coding, uint64_t at,
	struct dicom_element *element);

/* Walks the data set from data->end, until no element follows, or one that is cut or invalid. */
void dicom_walk(struct dicom_data *data, struct finding *finding);

#endif
