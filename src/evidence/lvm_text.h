/* The text in which Linux's LVM describes a group of volumes: sections, numbers, strings, lists. */
#ifndef BURIN_EVIDENCE_LVM_TEXT_H
#define BURIN_EVIDENCE_LVM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lvm_node {
	char *name;             /* NULL: an item of a list */
	char *text;             /* a string or a number; NULL: a section or a list */
	struct lvm_node *first; /* what is in it */
	struct lvm_node *next;
};

/* The sections of the text, as what is in a section without a name, which the caller frees. NULL: it is
 * not such a text, or too deep. */
struct lvm_node *lvm_text_parse(const char *text, size_t len);
/* What is called `name` in the section; NULL: nothing, also when section is NULL. */
const struct lvm_node *lvm_text_find(const struct lvm_node *section, const char *name);
/* Its number; false when there is none. */
bool lvm_text_number(const struct lvm_node *section, const char *name, uint64_t *number);
/* Its string; "" when there is none. */
const char *lvm_text_string(const struct lvm_node *section, const char *name);
/* NULL is fine. */
void lvm_text_free(struct lvm_node *node);

#endif
