/* AAC's codes and bands (ISO/IEC 14496-3, subpart 4). */
#ifndef BURIN_CARVERS_COMMON_AAC_CODES_H
#define BURIN_CARVERS_COMMON_AAC_CODES_H

#include <stddef.h>
#include <stdint.h>

#define AAC_BOOKS 12    /* 0: of scale factors; 1 to 11: of spectral values */
#define AAC_CODE_MAX 19 /* bits */
#define AAC_RATES 13    /* sampling rates with bands of their own: the index of a configuration */

/* A complete canonical code. */
struct aac_book {
	uint8_t counts[AAC_CODE_MAX + 1]; /* codes of each length in bits */
	uint8_t lines;                    /* spectral values of a code */
	/* Of each code in order. Scale factors: the step plus 60. Spectral values: the bits of signs that follow, and from 16
	 * on the number of escapes; NULL: none follow. */
	const uint8_t *more;
};

extern const struct aac_book aac_books[AAC_BOOKS];

struct aac_bands {
	const uint16_t *ends; /* the lines at which they end, the last one 1024 or 128; not 0 */
	uint8_t count;
};

extern const struct aac_bands aac_long_bands[AAC_RATES], aac_short_bands[AAC_RATES];
/* Bands that object type Main may predict. */
extern const uint8_t aac_predicted_bands[AAC_RATES];

#endif
