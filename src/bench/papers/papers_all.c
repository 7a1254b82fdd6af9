/* Every kernel and engine on every data set: which is ahead, and from which density of matches on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/papers/papers_state.h"
#include "scan/gpu_kernels.h"
#include "scan/scan.h"

#define PASSES_MAX 200       /* bmh searches the text once for every pattern */
#define GPU_MB ((size_t)256) /* of the text, for kernels: several times what caches hold */
#define CPU_MB ((size_t)32)  /* for the engines of the CPU */

/* A line of the table: the measurement on one data set. */
static void add_line(struct paper_table *table, const char *data, const char *engine,
	const char *kernel, size_t len, const struct papers_time *time, double ceiling, double best)
{
	paper_table_word(table, "%s", data);
	paper_table_word(table, "%s", engine);
	paper_table_word(table, "%s", kernel);
	papers_cell_speed(table, len, time);
	papers_cell_share(table, (double)len, time->seconds, ceiling);
	papers_cell_ratio(table, best, (double)len / time->seconds);
	papers_cell_verdict(table, time);
}

static struct paper_table *new_table(struct paper_tables *tables)
{
	struct paper_table *table = paper_table_new(tables, 0,
		"DATA|ENGINE|KERNEL|GB/s|OF DEVICE MEMORY|gram AHEAD BY|COMPARED",
		"All kernels side by side, text on the device, hits as burin carve takes them");

	paper_table_note(
		table, "Of the first %zu MB, engines of the processor of %zu.", GPU_MB, CPU_MB);
	return table;
}

static struct paper_table *table_of(struct papers *papers)
{
	struct paper_tables *tables = &papers->result->tables;

	for (size_t i = 0; i < tables->count; i++)
		if (tables->items[i]->paper == 0)
			return tables->items[i];
	return new_table(tables);
}

/* Kernel and engine bmh would take as many passes as there are patterns. */
static bool leave_out(const struct papers *papers, const char *name, struct papers_time *time)
{
	if (strcmp(name, "bmh") != 0 || papers->set.count <= PASSES_MAX)
		return false;
	snprintf(time->why, sizeof(time->why), "a pass for each pattern: left out");
	return true;
}

void papers_compare_all(struct papers *papers, const char *data)
{
	const struct scan_engine *engine;
	struct paper_table *table = table_of(papers);
	size_t len = papers->text.len < GPU_MB << 20 ? papers->text.len : GPU_MB << 20;
	size_t part = papers->text.len < CPU_MB << 20 ? papers->text.len : CPU_MB << 20;
	double gram = -1;

	for (const struct gpu_kernel_info *info = gpu_kernel_list;
		papers->gpu && info->name && !papers_stop(); info++) {
		struct papers_kernel kernel = { .name = info->name, .len = len };
		struct papers_time time = { .seconds = -1 };

		if (!leave_out(papers, info->name, &time))
			papers_time_kernel(papers, &kernel, &time);
		if (strcmp(info->name, "gram") == 0)
			gram = (double)len / time.seconds;
		add_line(table, data, "gpu", info->name, len, &time, papers->result->device_read,
			gram);
	}
	for (unsigned i = 0; (engine = scan_engine_at(i)); i++) {
		struct papers_time time = { .seconds = -1 };
		char reason[256];

		if (strcmp(engine->name, "gpu") == 0 || strcmp(engine->name, "reference") == 0 ||
			engine->probe(reason, sizeof(reason)) || papers_stop())
			continue;
		if (!leave_out(papers, engine->name, &time))
			papers_time_engine(papers, engine->name, 0, part, &time);
		add_line(table, data, engine->name, "-", part, &time, -1, -1);
	}
}
