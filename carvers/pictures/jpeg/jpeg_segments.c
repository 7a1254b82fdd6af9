/* The segments of a JPEG file that describe its coded data. Impossible values are rejected. */
#include "jpeg.h"

#include <string.h>

#include "bytes.h"

static const char *read_quantization(struct jpeg *jpeg, const uint8_t *p, size_t len)
{
	while (len) {
		size_t table_len = 1 + (p[0] >> 4 ? 128 : 64);

		if (p[0] >> 4 > 1 || (p[0] & 15) > 3 || len < table_len)
			return "an impossible quantization table";
		for (size_t i = 0; i < 64; i++)
			jpeg->quant[p[0] & 3][i] = p[0] >> 4 ? be16(p + 1 + 2 * i) : p[1 + i];
		p += table_len;
		len -= table_len;
	}
	return NULL;
}

static const char *read_huffman(struct jpeg *jpeg, const uint8_t *p, size_t len)
{
	while (len) {
		uint32_t room = 0;
		struct jpeg_code *code;
		size_t count = 0;

		if (len < 17 || p[0] >> 4 > 1 || (p[0] & 15) > 3)
			return "an impossible Huffman table";
		for (int bits = 1; bits <= 16; bits++) {
			count += p[bits];
			room += (uint32_t)p[bits] << (16 - bits);
		}
		if (room > 65536 || count > 256 || len < 17 + count)
			return "an impossible Huffman table";
		code = &jpeg->codes[p[0] >> 4][p[0] & 3];
		memset(code, 0, sizeof(*code));
		code->defined = true;
		memcpy(code->counts + 1, p + 1, 16);
		memcpy(code->values, p + 17, count);
		p += 17 + count;
		len -= 17 + count;
	}
	return NULL;
}

static const char *read_arithmetic(const uint8_t *p, size_t len)
{
	for (; len >= 2; p += 2, len -= 2)
		if (p[0] >> 4 > 1 || (p[0] & 15) > 3)
			return "an impossible arithmetic coding table";
	return len ? "an arithmetic coding segment of odd length" : NULL;
}

static uint32_t divide_up(uint32_t size, uint32_t by)
{
	return (size + by - 1) / by;
}

/* Computes how many blocks there are, once height, width and sampling are known. */
static void count_blocks(struct jpeg *jpeg)
{
	jpeg->mcus_across = divide_up(jpeg->width, 8u * jpeg->hmax);
	jpeg->mcus_down = divide_up(jpeg->height, 8u * jpeg->vmax);
	for (int i = 0; i < jpeg->component_count; i++) {
		struct jpeg_component *c = &jpeg->components[i];

		c->across = divide_up(divide_up(jpeg->width * c->h, jpeg->hmax), 8);
		c->down = divide_up(divide_up(jpeg->height * c->v, jpeg->vmax), 8);
		c->stride = jpeg->mcus_across * c->h;
	}
}

static const char *read_component(struct jpeg *jpeg, int index, const uint8_t *p)
{
	struct jpeg_component *c = &jpeg->components[index];

	c->id = p[0];
	c->h = p[1] >> 4;
	c->v = p[1] & 15;
	c->quant = p[2];
	if (c->h < 1 || c->h > 4 || c->v < 1 || c->v > 4 || c->quant > 3)
		return "a frame with an impossible component";
	for (int i = 0; i < index; i++)
		if (jpeg->components[i].id == c->id)
			return "a frame with two equal components";
	if (c->h > jpeg->hmax)
		jpeg->hmax = c->h;
	if (c->v > jpeg->vmax)
		jpeg->vmax = c->v;
	return NULL;
}

static bool lossless(uint8_t sof)
{
	return (sof & 3) == 3;
}

static const char *read_frame(struct jpeg *jpeg, uint8_t sof, const uint8_t *p, size_t len)
{
	const char *problem = NULL;

	if (len < 6 || len != 6 + 3 * (size_t)p[5] || p[5] < 1 || p[5] > JPEG_COMPONENTS)
		return "a frame header of the wrong length";
	jpeg->precision = p[0];
	if (lossless(sof) ? p[0] < 2 || p[0] > 16 : p[0] != 8 && (p[0] != 12 || sof == JPEG_SOF0))
		return "a frame with an impossible precision";
	jpeg->height = be16(p + 1);
	jpeg->width = be16(p + 3);
	if (!jpeg->width)
		return "a frame without width";
	jpeg->sof = sof;
	jpeg->component_count = p[5];
	jpeg->hmax = jpeg->vmax = 0;
	for (int i = 0; i < jpeg->component_count && !problem; i++)
		problem = read_component(jpeg, i, p + 6 + 3 * i);
	if (!problem)
		count_blocks(jpeg);
	return problem;
}

static struct jpeg_component *component(struct jpeg *jpeg, uint8_t id)
{
	for (int i = 0; i < jpeg->component_count; i++)
		if (jpeg->components[i].id == id)
			return &jpeg->components[i];
	return NULL;
}

/* Progressive scans refine a range of coefficients by bits; other scans code all at once, whatever
 * these fields are. */
static const char *read_progression(struct jpeg *jpeg, const uint8_t *p)
{
	bool dc = p[0] == 0;

	jpeg->spectral_first = p[0];
	jpeg->spectral_last = p[1];
	jpeg->approx_high = p[2] >> 4;
	jpeg->approx_low = p[2] & 15;
	if ((jpeg->sof & 3) != 2)
		return NULL;
	if (p[1] > 63 || p[0] > p[1] || (dc && p[1] != 0) || (!dc && jpeg->in_scan != 1))
		return "a scan with an impossible range of coefficients";
	if (jpeg->approx_low > 13 ||
		(jpeg->approx_high && jpeg->approx_high != jpeg->approx_low + 1))
		return "a scan with impossible bit positions";
	return NULL;
}

static const char *read_scan(struct jpeg *jpeg, const uint8_t *p, size_t len)
{
	if (!jpeg->sof)
		return "a scan without a frame";
	if (len < 4 || p[0] < 1 || p[0] > JPEG_COMPONENTS || len != 4 + 2 * (size_t)p[0])
		return "a scan header of the wrong length";
	jpeg->in_scan = p[0];
	for (int i = 0; i < jpeg->in_scan; i++) {
		struct jpeg_component *c = component(jpeg, p[1 + 2 * i]);
		uint8_t tables = p[2 + 2 * i];

		if (!c || tables >> 4 > 3 || (tables & 15) > 3)
			return "a scan with an unknown component or table";
		for (int j = 0; j < i; j++)
			if (jpeg->scan[j] == c)
				return "a scan with one component twice";
		c->dc_table = tables >> 4;
		c->ac_table = tables & 15;
		jpeg->scan[i] = c;
	}
	return read_progression(jpeg, p + len - 3);
}

static const char *read_number(struct jpeg *jpeg, uint8_t marker, const uint8_t *p, size_t len)
{
	if (len != 2)
		return "a segment of the wrong length";
	if (marker == JPEG_DRI) {
		jpeg->restart_interval = be16(p);
	} else if (jpeg->sof && !jpeg->height) {
		jpeg->height = be16(p);
		count_blocks(jpeg);
	}
	return NULL;
}

const char *jpeg_read_segment(struct jpeg *jpeg, uint8_t marker, const uint8_t *p, size_t len)
{
	switch (marker) {
	case JPEG_DQT:
		return read_quantization(jpeg, p, len);
	case JPEG_DHT:
		return read_huffman(jpeg, p, len);
	case JPEG_DAC:
		return read_arithmetic(p, len);
	case JPEG_DRI:
	case JPEG_DNL:
		return read_number(jpeg, marker, p, len);
	case JPEG_SOS:
		return read_scan(jpeg, p, len);
	case JPEG_DHP:
		jpeg->hierarchical = true;
		return NULL;
	case JPEG_EXP:
		return NULL;
	}
	if (jpeg->sof && !jpeg->hierarchical)
		return "a second frame";
	return read_frame(jpeg, marker, p, len);
}
