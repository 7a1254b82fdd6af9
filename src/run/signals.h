/* Signals. The first SIGINT, SIGTERM or SIGHUP ends the run in order, with complete reports; the
 * second ends the process at once. */
#ifndef BURIN_RUN_SIGNALS_H
#define BURIN_RUN_SIGNALS_H

#include <stdbool.h>

/* Installs the handlers; once, by the main thread. */
void signals_catch(void);
/* The signal that was caught; 0 for none. Thread-safe, like the next. */
int signals_caught(void);
bool signals_interrupted(void);
/* As if that signal had been caught (0: none). Safe in handlers of signals. */
void signals_set(int number);

#endif
