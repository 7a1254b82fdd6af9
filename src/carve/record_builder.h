/* From a decided candidate to its record: names, status and reasons. One thread, but for record_builder_build. */
#ifndef BURIN_CARVE_RECORD_BUILDER_H
#define BURIN_CARVE_RECORD_BUILDER_H

#include "carve/decide.h"
#include "evidence/volumes.h"
#include "output/output_dir.h"
#include "report/record.h"

enum carving_names {
	NAMES_BY_TYPE, /* TYPE/OFFSET.EXT */
	NAMES_BY_KIND, /* the same, with docx instead of zip */
	NAMES_FLAT,    /* OFFSET.EXT */
	NAMES_SCALPEL, /* EXT-RULE-DIR/NUMBER.EXT, as Scalpel 1.60 */
	NAMES_SCALPEL_FLAT,
};

/* What a carved file's name holds beside its offset, if it is known: of the path, as much of its end as
 * fits. */
enum carving_label { LABEL_NONE, LABEL_TITLE, LABEL_TIME, LABEL_PATH };

/* The choices of --rename, in that order. */
#define CARVING_LABEL_CHOICES "none|title|time|path"

/* What a run's options say about files' names and times; --rename and others fill it in. */
struct record_style {
	enum carving_label label;
	bool no_extension, no_times;
};

struct record_builder;

/* rules: may be NULL when record_builder_build is never called. image: what was searched; its
 * evidence's size determines how wide offsets are in names. volumes: NULL for none. All stay the
 * caller's. */
struct record_builder *record_builder_new(const struct rules *rules, struct output_dir *output_dir,
	enum carving_names names, struct record_style style, struct image *image,
	struct volumes *volumes);
/* What most records need beside the record itself, so that nothing has to be allocated. */
struct record_room {
	struct range run; /* the only one */
	char path[64];
};

/* All that a record follows from. */
struct record_plan {
	struct candidate candidate;
	struct outcome *outcome; /* NULL: the candidate needed no check */
	struct path_claim path;
	uint64_t number,
		count; /* for Scalpel's names: of the file, and of its rule's files before it */
	bool overlaps; /* as in struct decision */
	uint64_t outer;
};

/* Plans the record of a file that is kept. Calls come in the order of the report. outcome: the decision's, which
 * the plan refers to; NULL where it follows from the candidate. */
void record_builder_plan(struct record_builder *builder, const struct decision *decision,
	struct outcome *outcome, struct record_plan *plan);
/* The record's, of a plan's or an other outcome: the rule's name, or what the carver recognised. */
const char *record_builder_kind(
	const struct record_builder *builder, uint32_t rule, const struct outcome *outcome);
/* Fills in the record. Any thread. room must live as long as the record; record_builder_release frees what did
 * not fit. */
void record_builder_build(struct record_builder *builder, const struct record_plan *plan,
	struct file_record *record, struct record_room *room);
/* The same for a file in pieces: its runs are in the evidence, and copied. Its name has the label
 * "pieces" beside what other names have. The caller frees record->runs and record->path. */
void record_builder_build_pieces(struct record_builder *builder, uint32_t rule,
	const struct range *runs, uint32_t run_count, const struct outcome *outcome,
	const struct assembly *assembly, struct file_record *record);
/* Frees what the record owns, and not the record. room: of record_builder_build. */
void record_builder_release(struct file_record *record, struct record_room *room);
/* To be called once it is known which bytes of the file could not be read: names the place in the reason,
 * and a complete file becomes unverified. */
void record_note_unreadable(struct file_record *record);
/* For a checkpoint. */
void record_builder_save(const struct record_builder *builder, struct codec_writer *writer);
/* Into a new one for the same image, rules and names. */
void record_builder_load(struct record_builder *builder, struct codec_reader *reader);
/* True for the name of a file that comes after all that record_builder_plan has allocated: a killed run
 * may have left it after its last checkpoint. folder: that the file is in, "" for the output folder
 * itself. */
bool record_builder_is_later(
	const struct record_builder *builder, const char *folder, const char *name);
/* NULL is fine. */
void record_builder_free(struct record_builder *builder);

#endif
