#include "cli/make_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "page/page.h"

int page_make(const char *folder, uint64_t thumbs)
{
	struct page_options options = { .thumbs = thumbs };
	struct page_counts counts;
	struct error error = { 0 };

	if (page_write(folder, &options, &counts, &error)) {
		log_error("%s", error.text);
		return error.code;
	}
	if (counts.no_pictures)
		log_info("no small pictures: %s", counts.no_pictures);
	if (counts.no_films)
		log_info("no small pictures of films: %s", counts.no_films);
	if (counts.failed_thumbs)
		log_info("%" PRIu64 " small pictures could not be made", counts.failed_thumbs);
	log_info("%s/" HTML_PAGE " shows %" PRIu64 " files", folder, counts.files);
	return EXIT_CLEAN;
}

int page_after_run(const char *folder, int code)
{
	int page = EXIT_CLEAN;

	/* Other codes mean that there is no report, or that nobody wants to wait. */
	if (code == EXIT_CLEAN || code == EXIT_PROBLEMS)
		page = page_make(folder, strtoull(PAGE_THUMBS, NULL, 10));
	return page > code ? page : code;
}
