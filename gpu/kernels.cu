/* The table of kernels (kernel_rows.h), and the choice among them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/kernel.h"
#include "scan/gpu_kernels.h"

const struct gpu_kernel *const gpu_kernels[] = {
#define ROW(variable, name, comparison, summary) &variable,
#include "gpu/kernel_rows.h"
	NULL,
};

extern "C" const bool gpu_kernels_built = true;

static const struct gpu_kernel *find(const char *name)
{
	for (const struct gpu_kernel *const *kernel = gpu_kernels; *kernel; kernel++)
		if (!strcmp((*kernel)->name, name))
			return *kernel;
	return NULL;
}

static int pick_named(const struct gpu_kernel **kernel, struct gpu_program **program,
	const char *name, const struct pattern_set *set, const struct gpu_tuning *tuning,
	char *choice, size_t len, struct error *error)
{
	*kernel = find(name);
	if (!*kernel)
		return error_set(error, EXIT_USAGE, EINVAL,
			"the gpu engine has no kernel '%s'; `burin list kernels --all` shows those "
			"it has",
			name);
	int status = (*kernel)->compile(program, set, tuning, error);
	if (!status)
		(*kernel)->describe(*program, choice, len);
	return status;
}

int gpu_kernel_pick(const struct gpu_kernel **kernel, struct gpu_program **program,
	const char *name, const struct pattern_set *set, const struct gpu_tuning *tuning,
	char *choice, size_t len, struct error *error)
{
	if (name)
		return pick_named(kernel, program, name, set, tuning, choice, len, error);
	double least = 0;
	int status = -EINVAL, refused = 0;
	char others[256] = "";
	*kernel = NULL;
	for (const struct gpu_kernel *const *row = gpu_kernels; *row; row++) {
		struct gpu_program *compiled;
		if (!(*row)->cost)
			continue; /* only for comparison */
		status = (*row)->compile(&compiled, set, tuning, *kernel ? NULL : error);
		size_t used = strlen(others);
		if (status) {
			refused++;
			snprintf(others + used, sizeof(others) - used, "; %s does not suit",
				(*row)->name);
			continue;
		}
		double cost = (*row)->cost(compiled);
		snprintf(others + used, sizeof(others) - used, "; %s costs %.0f", (*row)->name,
			cost);
		if (*kernel && cost >= least) {
			(*row)->free(compiled);
			continue;
		}
		if (*kernel)
			(*kernel)->free(*program);
		*kernel = *row;
		*program = compiled;
		least = cost;
	}
	if (!*kernel)
		return status;
	(*kernel)->describe(*program, choice, len);
	size_t used = strlen(choice);
	snprintf(choice + used, len - used, "%s", others);
	return 0;
}

extern "C" int gpu_form_check(
	const struct gpu_kernel *kernel, const struct gpu_program *program, struct error *error)
{
	if (!kernel->form)
		return error_set(
			error, EXIT_USAGE, EINVAL, "%s has no other form of output", kernel->name);
	if (kernel->form->takes && !kernel->form->takes(program))
		return error_set(error, EXIT_USAGE, EINVAL,
			"the output of %s's paper has no place for patterns with wild bytes or "
			"long ones, of which only a part is searched for",
			kernel->name);
	return 0;
}
