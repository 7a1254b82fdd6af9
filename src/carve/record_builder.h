/* From a decided candidate to its record: names, status and reasons. One thread. */
#ifndef BURIN_CARVE_RECORD_BUILDER_H
#define BURIN_CARVE_RECORD_BUILDER_H

#include "carve/check.h"
#include "evidence/volumes.h"
#include "output/output_dir.h"

enum carving_names {
	NAMES_BY_TYPE, /* TYPE/OFFSET.EXT */
	NAMES_FLAT,    /* OFFSET.EXT */
	NAMES_SCALPEL, /* EXT-RULE-DIR/NUMBER.EXT, as Scalpel 1.60 */
	NAMES_SCALPEL_FLAT,
};

/* What a carved file's name holds beside its offset, where the file tells it. */
enum carving_label { LABEL_NONE, LABEL_TITLE, LABEL_TIME };

/* The words of --rename, in that order. */
#define CARVING_LABEL_CHOICES "none|title|time"

struct record_builder;

/* rules: may be NULL when record_builder_build is never called. image: what was searched; its
 * evidence's size tells how wide offsets are in names. volumes: NULL where nothing is known. All
 * stay the caller's. */
struct record_builder *record_builder_new(const struct rules *rules, struct output_dir *output_dir,
	enum carving_names names, enum carving_label label, bool no_extension, struct image *image,
	struct volumes *volumes);
/* Fills in the record, run being the room for its only run: where there are more the caller
 * frees them. Calls come in the order of the report. The caller frees record->path. */
void record_builder_build(struct record_builder *record_builder, const struct candidate *candidate,
	const struct outcome *outcome, struct file_record *record, struct range *run);
void record_builder_save(const struct record_builder *record_builder, struct codec_writer *writer);
/* Into a new one for the same image, rules and names. */
void record_builder_load(struct record_builder *record_builder, struct codec_reader *reader);
/* True for the name of a file that comes behind all that record_builder_build has seen: what a run that
 * was killed may have left behind its last checkpoint. folder: that the file lies in, "" for the
 * output folder itself. */
bool record_builder_is_later(
	const struct record_builder *record_builder, const char *folder, const char *name);
/* NULL is fine. */
void record_builder_free(struct record_builder *record_builder);

#endif
