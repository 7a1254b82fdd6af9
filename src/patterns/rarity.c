/*
 * How often does a byte occur on a disk? A filter is good if the bytes it tests are rare, so
 * engines and kernels use this model to choose which part of a pattern they test. Bytes on a disk
 * are not independent: zeros have zeros as neighbours. But within one kind of content they nearly
 * are, so the model is a mixture: a weight for each kind of content, and within a kind a plain
 * distribution of bytes. The probability of a set of grams is then the weighted sum of its
 * probabilities in each kind, so that (00 00) after (00 00) is common and (00 00) after ('e' 't')
 * is not.
 *
 * The two tables were counted over 512-byte sectors of disk images, programs, sources and texts:
 * sectors that are nearly all printable are in one table, those with an entropy under 7.3 bits per
 * byte in the other, and the rest is taken as uniform. The weights are set by hand, because disks
 * differ; what matters is that every kind has one.
 */
#include <math.h>

#include "patterns/rarity.h"

const float rarity_weight[RARITY_KINDS] = { 0.33f, 0.03f, 0.14f, 0.25f, 0.25f };

/* clang-format off */
/* Minus eight times the binary logarithm of the share of each byte. */
static const uint8_t logs[2][256] = {
	{
		124, 125, 125, 125, 125, 125, 125, 125, 125, 72, 43, 125, 124, 95, 125, 125,
		125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125,
		20, 100, 63, 73, 108, 92, 94, 71, 63, 63, 65, 82, 54, 55, 51, 56,
		55, 59, 58, 67, 70, 72, 70, 73, 72, 68, 61, 75, 64, 64, 64, 101,
		82, 55, 68, 58, 63, 54, 62, 65, 66, 54, 88, 85, 58, 67, 57, 57,
		63, 94, 56, 56, 54, 66, 78, 72, 82, 73, 88, 86, 73, 86, 110, 56,
		91, 36, 53, 44, 45, 32, 48, 52, 46, 36, 77, 65, 43, 49, 38, 37,
		48, 83, 38, 38, 35, 48, 61, 58, 67, 56, 80, 89, 98, 89, 115, 125,
		118, 125, 123, 125, 125, 124, 125, 124, 125, 124, 125, 125, 125, 125, 125, 124,
		125, 125, 125, 124, 124, 125, 125, 125, 123, 119, 125, 125, 124, 124, 125, 124,
		124, 121, 125, 125, 121, 124, 125, 123, 123, 112, 125, 123, 125, 122, 124, 125,
		125, 122, 124, 122, 124, 125, 114, 125, 124, 125, 124, 125, 122, 123, 124, 124,
		125, 125, 112, 106, 122, 120, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125,
		124, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125,
		125, 125, 118, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 124,
		125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125, 125,
	},
	{
		15, 51, 57, 62, 60, 62, 69, 68, 52, 71, 67, 69, 70, 70, 52, 49,
		54, 72, 72, 76, 70, 69, 77, 78, 60, 79, 77, 80, 76, 78, 79, 61,
		56, 67, 79, 79, 51, 69, 80, 76, 62, 72, 80, 76, 76, 73, 70, 75,
		64, 53, 76, 75, 75, 71, 81, 74, 65, 71, 80, 78, 77, 70, 80, 80,
		66, 53, 59, 71, 55, 62, 73, 71, 40, 62, 78, 79, 55, 70, 55, 78,
		69, 79, 78, 71, 68, 69, 77, 78, 74, 81, 43, 72, 71, 69, 78, 72,
		73, 69, 75, 68, 67, 63, 58, 76, 70, 68, 81, 79, 69, 73, 68, 65,
		68, 81, 67, 67, 58, 66, 79, 78, 72, 77, 82, 78, 72, 79, 79, 77,
		66, 76, 79, 58, 56, 57, 74, 81, 74, 46, 82, 52, 74, 56, 78, 79,
		70, 84, 83, 83, 77, 81, 83, 84, 77, 76, 81, 83, 79, 84, 83, 82,
		74, 82, 80, 82, 80, 83, 83, 82, 76, 83, 78, 82, 79, 85, 84, 83,
		76, 84, 84, 83, 58, 82, 75, 83, 73, 80, 74, 81, 78, 82, 71, 76,
		56, 68, 75, 66, 67, 71, 73, 67, 75, 72, 79, 81, 80, 79, 80, 81,
		73, 78, 68, 79, 77, 78, 78, 78, 72, 78, 77, 74, 77, 79, 75, 70,
		70, 77, 75, 79, 76, 78, 74, 73, 52, 64, 74, 70, 71, 73, 72, 67,
		70, 75, 75, 72, 75, 75, 66, 72, 70, 76, 74, 73, 73, 71, 62, 37,
	},
};
/* clang-format on */

void rarity_bytes(float probability[RARITY_KINDS][256])
{
	for (unsigned byte = 0; byte < 256; byte++) {
		probability[RARITY_ZERO][byte] = byte == 0;
		probability[RARITY_FILL][byte] = byte == 0xff;
		probability[RARITY_TEXT][byte] = exp2f(logs[0][byte] / -8.0f);
		probability[RARITY_BINARY][byte] = exp2f(logs[1][byte] / -8.0f);
		probability[RARITY_RANDOM][byte] = 1 / 256.0f;
	}
}

float rarity_class(const float probability[256], uint8_t value, uint8_t mask)
{
	uint8_t wild = (uint8_t)~mask, bits = 0;
	float sum = 0;

	if (!mask)
		return 1;
	do {
		sum += probability[(value & mask) | bits];
		bits = (uint8_t)((bits - wild) & wild); /* the next subset */
	} while (bits);
	return sum;
}

double rarity_run(const float probability[RARITY_KINDS][256], const uint8_t *value,
	const uint8_t *mask, uint32_t len)
{
	double rate = 0;
	for (int k = 0; k < RARITY_KINDS; k++) {
		double product = rarity_weight[k];
		for (uint32_t i = 0; i < len && product > 0; i++)
			product *= rarity_class(probability[k], value[i], mask[i]);
		rate += product;
	}
	return rate;
}
