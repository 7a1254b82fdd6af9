/*
 * The worker's first look at what it has searched. It pairs the hits and checks the candidates as a
 * run alone does, but makes no files: what the checks find goes to the coordinator with the hits, so
 * that the coordinator hardly ever has to ask. That saves reading more than time: where workers check
 * what others have searched, they read 1.4 to 1.8 times the image. What lies inside a file that was
 * found complete is neither checked nor sent. The coordinator decides: where a file that began before
 * the unit hides what was checked here, or reveals what was not, nothing is lost but time.
 *
 * Results wait here, in order, until everything that their hits settle was decided on.
 */
#ifndef BURIN_CLUSTER_PRECHECK_H
#define BURIN_CLUSTER_PRECHECK_H

#include "run/cluster.h"
#include "run/session.h"

struct precheck;

/* The session's pool must be open. send: called with each result when all of its outcomes are known,
 * by the thread that calls the functions below; 0 or a negative errno. Never NULL. */
struct precheck *precheck_new(struct session *session,
	int (*send)(void *context, struct cluster_result *result), void *context);

/* What returns int returns 0 or a negative errno, with the session's error set where there are words
 * for it. */

/* The next result of the unit that starts there. Takes over what it points to. */
int precheck_add(struct precheck *precheck, uint64_t unit, struct cluster_result *result);
/* Sends what is known, and waits until the checks of what starts before `position` are begun (search_near). */
int precheck_settle(struct precheck *precheck, uint64_t position);
/* Waits until all results are sent. */
int precheck_drain(struct precheck *precheck);
/* Another process has decided that what starts before this is hidden. context: the precheck. From
 * any thread. */
void precheck_hide(void *context, uint64_t until);
/* NULL is fine. */
void precheck_free(struct precheck *precheck);

#endif
