/*
 * burin-filesystems: the program that alone has libtsk, and the network libraries that it brings. It parses file systems, and
 * the containers that libtsk opens.
 */
#include "confined/job_program.h"
#include "filesystems/walk_work.h"

#ifdef __SANITIZE_ADDRESS__
const char *__asan_default_options(void);

/* libtsk frees what `new` made in its own destructors. There is no environment to say it. */
const char *__asan_default_options(void)
{
	return "new_delete_type_mismatch=0";
}
#endif

int main(int argc, char **argv)
{
	static const struct served_kind *const kinds[] = { &served_container, &served_streams,
		NULL };
	static const struct job_program program = { "burin-filesystems", kinds, walk_work };

	return job_program_run(&program, argc, argv);
}
