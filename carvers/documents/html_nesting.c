#include "html_nesting.h"

#include <stddef.h>
#include <string.h>

/* Tags without a counterpart that are a mistake of the author, and one in how many may be. */
#define MISTAKES 3
#define MISTAKES_SHARE 20

/* The place of a name among those whose elements need both tags; -1: it is not among them. */
static int place(const char *name)
{
	static const char *const names[] = { "a", "article", "b", "blockquote", "button", "center",
		"code", "div", "dl", "em", "fieldset", "font", "footer", "form", "frameset", "h1",
		"h2", "h3", "h4", "header", "i", "label", "main", "nav", "noscript", "ol", "pre",
		"script", "section", "select", "small", "span", "strong", "style", "sub", "sup",
		"table", "title", "tt", "u", "ul" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (*names[i] == *name && strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

void html_nesting_start(struct html_nesting *nesting, const char *name)
{
	int element = place(name);

	if (element < 0)
		return;
	nesting->tags++;
	if (nesting->depth < HTML_NESTING_MAX)
		nesting->open[nesting->depth++] = (uint8_t)element;
	else
		nesting->deeper++;
}

void html_nesting_end(struct html_nesting *nesting, const char *name)
{
	int element = place(name);
	unsigned depth = nesting->depth;

	if (element < 0)
		return;
	nesting->tags++;
	if (nesting->deeper) {
		nesting->deeper--;
		return;
	}
	while (depth && nesting->open[depth - 1] != element)
		depth--;
	if (!depth) {
		nesting->unmatched++;
		return;
	}
	nesting->unmatched += nesting->depth - depth;
	nesting->depth = depth - 1;
}

bool html_nesting_holds(const struct html_nesting *nesting)
{
	uint64_t unmatched = nesting->unmatched + nesting->depth + nesting->deeper;

	return unmatched < MISTAKES || unmatched * MISTAKES_SHARE <= nesting->tags;
}
