/* burin-evidence: the program that alone parses containers and encrypted volumes, but for those that libtsk opens. */
#include "confined/job_program.h"

int main(int argc, char **argv)
{
	/* THE TABLE. */
	static const struct served_kind *const kinds[] = { &served_aff4, &served_bitlocker,
		&served_luks, &served_filevault, &served_shadow, &served_changed, &served_lvm,
		&served_md, &served_ewf, &served_blocks, NULL };
	static const struct job_program program = { "burin-evidence", kinds, NULL };

	return job_program_run(&program, argc, argv);
}
