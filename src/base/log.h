/*
 * Messages for people, on stderr, after "burin: ". stdout is for machines. The progress line
 * (report/progress.h) hooks in here, so that messages and it never mix on a line.
 */
#ifndef BURIN_BASE_LOG_H
#define BURIN_BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Sets the least important level that is printed (initially LOG_INFO). */
void log_set_level(enum log_level level);

/* Called before and after each message, by the thread that prints it; NULL for none. */
void log_set_hooks(void (*before)(void), void (*after)(void));

/* Passes messages to take instead of printing them, in the thread that logs; NULL: prints them on
 * stderr again. */
void log_redirect(void (*take)(enum log_level level, const char *text));

/* Also passes errors and warnings to hear, in the thread that logs; NULL: not. */
void log_listen(void (*hear)(enum log_level level, const char *text));

/* Thread-safe; adds the newline. */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_print(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_print(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_print(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_print(LOG_DEBUG, __VA_ARGS__)

#endif
