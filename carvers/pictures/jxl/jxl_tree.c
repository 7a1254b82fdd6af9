/*
 * Trees of the modular mode (ISO/IEC 18181-1, H.4). Nodes are stored breadth first: which property
 * of a sample's surroundings is compared with which value, or how the sample is predicted. The two
 * children of a node are adjacent, so their index follows from the number of open nodes. Each leaf
 * is a context of the samples' code, which is defined after the tree.
 */
#include "jxl_tree.h"

#include <stdlib.h>
#include <string.h>

#include "walk.h"

#define NODES_MAX (1u << 20)
#define PREDICTORS 14
#define PROPERTIES 256

enum context { SPLIT, PROPERTY, PREDICTOR, OFFSET, MULTIPLIER_LOG, MULTIPLIER_BITS, CONTEXTS };

static void read_leaf(struct jxl_bits *bits, struct jxl_code *code, struct jxl_node *leaf)
{
	uint32_t predictor = jxl_code_next(bits, code, PREDICTOR), log, more;

	leaf->split = jxl_signed(jxl_code_next(bits, code, OFFSET));
	log = jxl_code_next(bits, code, MULTIPLIER_LOG);
	more = jxl_code_next(bits, code, MULTIPLIER_BITS);
	jxl_bits_expect(bits, predictor < PREDICTORS && log < 31);
	jxl_bits_expect(bits, log < 31 && more < (1u << (31 - log)) - 1);
	leaf->property = -1;
	leaf->predictor = (uint8_t)predictor;
	leaf->multiplier = jxl_bits_ok(bits) ? (more + 1) << log : 1;
}

static bool read_nodes(struct jxl_bits *bits, struct jxl_code *code, struct jxl_tree *tree)
{
	size_t open = 1, room = 0;
	uint32_t leaf_count = 0;

	while (open > 0) {
		struct jxl_node *node, *nodes;
		uint32_t property = jxl_code_next(bits, code, PROPERTY);

		if (!jxl_bits_ok(bits) || property > PROPERTIES)
			return false;
		nodes = walk_list_grow(
			bits->view, tree->nodes, tree->count, &room, NODES_MAX, sizeof(*nodes));
		if (!nodes)
			return false;
		tree->nodes = nodes;
		node = &nodes[tree->count++];
		memset(node, 0, sizeof(*node));
		open--;
		if (property == 0) {
			read_leaf(bits, code, node);
			node->left = leaf_count++;
			continue;
		}
		node->property = (int16_t)(property - 1);
		node->split = jxl_signed(jxl_code_next(bits, code, SPLIT));
		node->left = (uint32_t)(tree->count + open);
		open += 2;
	}
	return true;
}

bool jxl_tree_read(struct jxl_bits *bits, struct jxl_tree *tree)
{
	struct jxl_code code = { 0 };
	bool right;

	memset(tree, 0, sizeof(*tree));
	right = jxl_code_read(bits, CONTEXTS, &code) && jxl_code_begin(bits, &code, 0) &&
		read_nodes(bits, &code, tree);
	if (right)
		jxl_code_end(bits, &code);
	jxl_code_free(&code);
	return right && jxl_bits_ok(bits) &&
	       jxl_code_read(bits, (tree->count + 1) / 2, &tree->code);
}

void jxl_tree_free(struct jxl_tree *tree)
{
	free(tree->nodes);
	jxl_code_free(&tree->code);
}
