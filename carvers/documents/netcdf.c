/*
 * NetCDF, the classic formats (Unidata, NetCDF Classic Format Specification).
 *
 *	header:    'CDF', version (1; 2: places of 8 bytes; 5: all numbers of 8 bytes), records, dimensions,
 *	           attributes, variables; big-endian, all parts multiples of 4 bytes
 *	list:      0 and 0, or its kind (4) and how many entries it has
 *	name:      length, bytes, padding
 *	dimension: name, length (0: grows with the records)
 *	attribute: name, type (4), number of values, values, padding
 *	variable:  name, number of dimensions, their indexes, attributes, type (4), size, place
 *
 * The variable that ends last ends the file: those without records have a place and a size; the others have
 * a part in each record, which is not padded if there is only one. Some writers leave out the last variable's padding: it
 * is zeros, or the value for what was not written. Nothing verifies the values.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "stored.h"
#include "walk.h"

#define COUNT_MAX 65536
#define NAME_MAX_LEN 4096
#define LENGTH_MAX ((uint64_t)1 << 50)
#define DIMENSIONS_KEPT 256

enum { DIMENSIONS = 10, VARIABLES = 11, ATTRIBUTES = 12 };

struct netcdf {
	struct view *view;
	uint64_t at;
	unsigned number_len, place_len; /* 4 or 8 */
	bool broken;
	uint64_t records, growing; /* the dimension that grows with the records; UINT64_MAX: none */
	uint64_t data, end;        /* of the variables without records */
	uint64_t first_record, record_len, record_variables;
	uint64_t padding;                  /* of the variable without records that ends last */
	uint64_t record_padding;           /* of a record's last part */
	uint64_t lengths[DIMENSIONS_KEPT]; /* of dimensions */
};

static uint64_t read_bytes(struct netcdf *cdf, unsigned len)
{
	const uint8_t *p = view_peek(cdf->view, cdf->at, len);

	if (!p) {
		cdf->broken = true;
		return 0;
	}
	cdf->at += len;
	return len == 4 ? be32(p) : be64(p);
}

static uint64_t read_number(struct netcdf *cdf)
{
	return read_bytes(cdf, cdf->number_len);
}

static void skip(struct netcdf *cdf, uint64_t len)
{
	if (len > LENGTH_MAX)
		cdf->broken = true;
	else
		cdf->at += (len + 3) / 4 * 4;
}

/* Reads a list's head: how many entries it has. */
static uint64_t read_list(struct netcdf *cdf, uint64_t kind)
{
	uint64_t found = read_bytes(cdf, 4), count = read_number(cdf);

	if ((found || count) && (found != kind || count > COUNT_MAX))
		cdf->broken = true;
	return cdf->broken ? 0 : count;
}

static void read_name(struct netcdf *cdf)
{
	uint64_t len = read_number(cdf);
	const uint8_t *p = len && len <= NAME_MAX_LEN ? view_peek(cdf->view, cdf->at, 1) : NULL;

	if (!p || *p <= ' ')
		cdf->broken = true;
	else
		skip(cdf, len);
}

static unsigned type_len(uint64_t type)
{
	static const uint8_t lengths[] = { 0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8 };

	return type < sizeof(lengths) ? lengths[type] : 0;
}

static void read_attributes(struct netcdf *cdf)
{
	for (uint64_t left = read_list(cdf, ATTRIBUTES); left && !cdf->broken; left--) {
		uint64_t len, count;

		read_name(cdf);
		len = type_len(read_bytes(cdf, 4));
		count = read_number(cdf);
		if (!len || count > LENGTH_MAX / 8)
			cdf->broken = true;
		else
			skip(cdf, count * len);
	}
}

static void read_variable(struct netcdf *cdf)
{
	uint64_t first = UINT64_MAX, count, len, place, values = 1, type, padding = 0;

	read_name(cdf);
	count = read_number(cdf);
	if (count > COUNT_MAX)
		cdf->broken = true;
	for (uint64_t i = 0; i < count && !cdf->broken; i++) {
		uint64_t index = read_number(cdf);

		first = i ? first : index;
		if (i || index != cdf->growing)
			values = index < DIMENSIONS_KEPT && values <= LENGTH_MAX &&
						 cdf->lengths[index] <= LENGTH_MAX / (values + 1)
					 ? values * cdf->lengths[index]
					 : UINT64_MAX;
	}
	read_attributes(cdf);
	type = read_bytes(cdf, 4);
	if (!type_len(type))
		cdf->broken = true;
	len = read_number(cdf);
	if (values <= LENGTH_MAX && values * type_len(type) < len &&
		len - values * type_len(type) < 4)
		padding = len - values * type_len(type);
	place = read_bytes(cdf, cdf->place_len);
	if (len > LENGTH_MAX || place > LENGTH_MAX)
		cdf->broken = true;
	if (!cdf->data || place < cdf->data)
		cdf->data = place;
	if (count && first == cdf->growing) {
		cdf->record_len += len;
		cdf->record_padding = padding;
		cdf->record_variables++;
		if (cdf->record_len > LENGTH_MAX)
			cdf->broken = true;
		if (!cdf->first_record || place < cdf->first_record)
			cdf->first_record = place;
	} else if (cdf->end < place + len) {
		cdf->end = place + len;
		cdf->padding = padding;
	}
}

static bool read_header(struct netcdf *cdf)
{
	uint64_t count;

	cdf->at = 4;
	cdf->growing = UINT64_MAX;
	cdf->records = read_number(cdf);
	count = read_list(cdf, DIMENSIONS);
	for (uint64_t i = 0; i < count && !cdf->broken; i++) {
		uint64_t len;

		read_name(cdf);
		len = read_number(cdf);
		if (!len)
			cdf->growing = i;
		if (i < DIMENSIONS_KEPT)
			cdf->lengths[i] = len;
	}
	read_attributes(cdf);
	for (uint64_t left = read_list(cdf, VARIABLES); left && !cdf->broken; left--)
		read_variable(cdf);
	/* The only part of a record is not padded. */
	if (cdf->record_variables == 1)
		cdf->record_len -= cdf->record_padding;
	return !cdf->broken;
}

/* Where the last record ends; 0: there is none. */
static uint64_t records_end(const struct netcdf *cdf)
{
	/* A recording that was not closed has no number of records. */
	if (cdf->records >= UINT32_MAX)
		return 0;
	if (cdf->record_len && cdf->records > LENGTH_MAX / cdf->record_len)
		return LENGTH_MAX;
	return cdf->first_record + cdf->records * cdf->record_len;
}

/* Whether the padding that ends at cdf->end is there: zeros, or what stands for a value of one or two bytes that was not
 * written. */
static bool has_padding(const struct netcdf *cdf)
{
	static const uint8_t fills[][3] = { { 0, 0, 0 }, { 0x81, 0x81, 0x81 }, { 0x80, 0x01, 0 } };
	size_t len = (size_t)cdf->padding;
	const uint8_t *p = view_peek(cdf->view, cdf->end - len, len);

	for (size_t i = 0; p && i < sizeof(fills) / sizeof(*fills); i++)
		if (memcmp(p, fills[i], len) == 0)
			return true;
	return false;
}

static enum verdict check(struct view *view, struct finding *finding)
{
	const uint8_t *p = view_peek(view, 0, 4);
	struct netcdf cdf = { .view = view };

	if (!p || memcmp(p, "CDF", 3) != 0 || (p[3] != 1 && p[3] != 2 && p[3] != 5))
		return verdict_because(CARVE_REJECT, finding, "no header at 0");
	cdf.number_len = p[3] == 5 ? 8 : 4;
	cdf.place_len = p[3] == 1 ? 4 : 8;
	if (!read_header(&cdf))
		return verdict_because(CARVE_REJECT, finding, "no header up to %" PRIu64, cdf.at);
	if (cdf.data && cdf.data < cdf.at)
		return verdict_because(CARVE_REJECT, finding, "variables within the header");
	if (cdf.padding && cdf.end > records_end(&cdf) && !has_padding(&cdf))
		cdf.end -= cdf.padding;
	if (cdf.end < records_end(&cdf))
		cdf.end = records_end(&cdf);
	if (cdf.end < cdf.at)
		cdf.end = cdf.at;
	return stored_check_data(view, finding, cdf.data ? cdf.data : cdf.at, cdf.end);
}

const struct carver netcdf_carver = {
	.name = "netcdf",
	.summary = "NetCDF in the classic formats, by the places of the variables",
	.check = check,
};
