/*
 * ffmpeg as a program: it is given the format by name, so that it does not take a list of addresses
 * for a film, may open nothing but the file that is its standard input, and writes to its parent
 * alone.
 */
#include "page/thumb_jobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "output/dirfd.h"

/* The first frames, two seconds apart, side by side; a still as it is. */
#define FRAMES \
	"fps=1/2:round=up,scale=128:96:force_original_aspect_ratio=decrease," \
	"pad=128:96:-1:-1,tile=3x1"
#define STILL "scale=256:256:force_original_aspect_ratio=decrease"

static int open_plain(const struct thumb_film *film)
{
	int dir_fd = open(film->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = dir_fd < 0 ? -1 : dirfd_open(dir_fd, film->path, O_RDONLY | O_NONBLOCK, false);
	struct stat info;

	if (dir_fd >= 0)
		close(dir_fd);
	if (fd >= 0 && (fstat(fd, &info) || !S_ISREG(info.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

int thumb_film_job(int fd, void *arg)
{
	const struct thumb_film *film = arg;
	/* Libraries, and what they read when they start. */
	const char *const readable[] = { "/usr", "/lib", "/lib64", film->program,
		"/etc/ld.so.cache", "/dev/null", "/dev/urandom", "/proc/self", "/proc/self/fd/0",
		NULL };
	int source = open_plain(film);

	if (source < 0 || dup2(source, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return 1;
	confine(&(struct confine_rights){
		.readable = readable, .programs = true, .threads = true });
	execl(film->program, film->program, "-nostdin", "-v", "quiet", "-threads", "1",
		"-protocol_whitelist", "file", "-f", film->demuxer, "-t", "8", "-i",
		"file:/proc/self/fd/0", "-an", "-sn", "-dn", "-vf", film->still ? STILL : FRAMES,
		"-frames:v", "1", "-q:v", "5", "-f", "mjpeg", "pipe:1", (char *)NULL);
	return 1;
}
