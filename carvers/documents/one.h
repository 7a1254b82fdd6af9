/* The two formats of OneNote's files. */
#ifndef BURIN_CARVERS_DOCUMENTS_ONE_H
#define BURIN_CARVERS_DOCUMENTS_ONE_H

#include "carver.h"

enum verdict one_check_store(struct view *view, struct finding *finding);
enum verdict one_check_package(struct view *view, struct finding *finding);

#endif
