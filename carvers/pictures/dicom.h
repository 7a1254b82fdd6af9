/* What the parts of the DICOM carver share: dicom.c reads the head and judges, dicom_data.c walks
 * the data set. */
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
	uint64_t at, value; /* where it starts, and where its value does */
	uint32_t tag, len;  /* len may be DICOM_UNDEFINED */
	char vr[3];         /* "" when it is not told */
};

enum dicom_state {
	DICOM_ELEMENT,
	DICOM_NONE, /* no element can stand there */
	DICOM_CUT,  /* its head ends behind the view */
};

/* What a data set told, and how far it went. */
struct dicom_data {
	struct view *view;
	struct dicom_coding coding;
	uint64_t end;       /* behind the last whole element of the outermost level */
	uint64_t confirmed; /* how far the elements bear each other out */
	uint64_t wanted;    /* where an element would end that the view cuts off, or 0 */
	uint64_t broken;    /* where a sequence breaks, or 0 */
	uint32_t last_tag;
	unsigned count;        /* elements of the outermost level */
	bool pixels;           /* pixel data were there */
	bool image;            /* the class, or rows, of a picture were there */
	char date[8], time[6]; /* digits, or zeros */
};

enum dicom_state dicom_read(struct view *view, const struct dicom_coding *coding, uint64_t at,
	struct dicom_element *element);

/* Walks the data set from data->end on, until no element follows, or one that is cut or broken. */
void dicom_walk(struct dicom_data *data, struct finding *finding);

#endif
