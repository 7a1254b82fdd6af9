/* The decision tree by which JPEG XL's modular mode chooses a sample's predictor and context. */
#ifndef BURIN_CARVERS_PICTURES_JXL_JXL_TREE_H
#define BURIN_CARVERS_PICTURES_JXL_JXL_TREE_H

#include "jxl_entropy.h"

/* A node, or a leaf: then property is -1. */
struct jxl_node {
	int16_t property;
	uint8_t predictor;
	int32_t split; /* left if the property is larger; in a leaf, the offset to add */
	uint32_t left; /* right is the next; in a leaf, the context */
	uint32_t multiplier;
};

struct jxl_tree {
	struct jxl_node *nodes;
	size_t count;
	struct jxl_code code; /* of the samples */
};

/* Reads the tree and the code. False: they are invalid. jxl_tree_free in either case. */
bool jxl_tree_read(struct jxl_bits *bits, struct jxl_tree *tree);

void jxl_tree_free(struct jxl_tree *tree);

/* 0, -1, 1, -2, ... */
static inline int32_t jxl_signed(uint32_t value)
{
	return (int32_t)(value >> 1 ^ (0 - (value & 1)));
}

#endif
