/* Runs of burin itself: it has parsed its command line, shows messages and progress, and catches signals. */
#ifndef BURIN_LIBRARY_PROGRAM_RUN_H
#define BURIN_LIBRARY_PROGRAM_RUN_H

#include "library/burin.h"
#include "run/carve_options.h"

/* For burin_run_carve and burin_run_free. settings, completed, and command_line, ended by NULL, stay the
 * caller's, and valid as long as the run; the caller has called run_inputs_confine. Never NULL. */
struct burin_run *library_run_of_program(const struct carve_options *settings, char **command_line);

/* Loads what the options name, as burin_run_carve does if nobody has. They stay the run's. NULL with error
 * set. */
const struct run_options *library_run_options(struct burin_run *run, struct error *error);

#endif
