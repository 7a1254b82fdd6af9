/* Finds the command that the arguments name, runs it, and checks that its output was written. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/dispatch.h"
#include "cli/help.h"

static bool is_one_of(const char *word, const char *brief, const char *full)
{
	return strcmp(word, brief) == 0 || strcmp(word, full) == 0;
}

static int dispatch(int argc, char **argv)
{
	struct error error = { 0 };
	const struct command *command;
	int used;

	if (argc < 2) {
		help_print(stderr);
		return EXIT_USAGE;
	}
	if (is_one_of(argv[1], "-h", "--help"))
		return command_run(&help_command, 1, argv);
	if (is_one_of(argv[1], "-V", "--version"))
		return command_run(&version_command, 1, argv);
	if (argv[1][0] == '-') /* as Scalpel is run: -c CONFIG -o OUTPUT IMAGE */
		return command_run(&carve_command, argc, argv);
	command = command_find(argc - 1, argv + 1, &used, &error);
	if (command)
		return command_run(command, argc - used, argv + used);
	if (argc == 3 && is_one_of(argv[2], "-h", "--help") && help_print_family(stdout, argv[1]))
		return EXIT_CLEAN;
	if (!command_is_family(argv[1]) && access(argv[1], F_OK) == 0)
		return command_run(&carve_command, argc, argv);
	log_error("%s", error.text);
	return error.code;
}

/* What a short command prints is then written by the last flush, which knows why it failed. A
 * terminal is served line by line as ever. */
static void buffer_stdout(void)
{
	static char buffer[64 << 10];

	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

static bool reader_is_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

/* Output lost to a full disk must not look like success. A reader that has seen enough (head) is no
 * error: as other programs do, end like one that SIGPIPE killed. */
static int finish_stdout(int code)
{
	const char *reason = ferror(stdout) ? "a write failed" : NULL;

	if (fflush(stdout))
		reason = strerror(errno);
	if (!reason || code == EXIT_IO) /* then the command has noticed and logged why */
		return code;
	if (reader_is_gone())
		return code ? code : 128 + SIGPIPE;
	log_error("cannot write to standard output: %s", reason);
	return code > 128 ? code : EXIT_IO;
}

/* If a standard stream is closed, the next file opened would get its descriptor, and messages would
 * be written to that file. */
static void fill_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static char **copy_words(int argc, char **argv)
{
	char **words = xcalloc((size_t)argc + 1, sizeof(*words));

	memcpy(words, argv, (size_t)argc * sizeof(*words));
	return words;
}

int program_run(int argc, char **argv)
{
	int code;

	fill_standard_streams();
	buffer_stdout();
	command_line = copy_words(argc, argv); /* getopt_long permutes argv */
	signal(SIGPIPE, SIG_IGN);
	code = finish_stdout(dispatch(argc, argv));
	free(command_line);
	return code;
}
