// Steps that follow changes: a watch, and one whose history is gone, which its user
// recovers from by listing again.

#include "CoreV1API.h"
#include "harness.h"
#include "watch_util.h"

#define SELECTOR "watched=yes"

static char *seen;

static void note(const char *event) {
    char *code = at(event, "object.code");
    seen = format("%s%s %s;", seen, at(event, "type"), *code ? code : at(event, "object.metadata.name"));
}

static void note_all(void **data, long *length) { kubernets_watch_handler(data, length, note); }

// follow watches from a revision for a while, and returns what there was.
static char *follow(world *w, char *revision) {
    int yes = 1, seconds = 2;
    seen = "";
    w->client->data_callback_func = note_all;
    CoreV1API_listNamespacedConfigMap(w->client, w->namespace, NULL, &yes, NULL, NULL, SELECTOR, NULL, revision, NULL, NULL, &seconds, &yes);
    w->client->data_callback_func = NULL;
    return seen;
}

static v1_config_map_list_t *list(world *w) {
    v1_config_map_list_t *got = CoreV1API_listNamespacedConfigMap(
        w->client, w->namespace, NULL, NULL, NULL, NULL, SELECTOR, NULL, NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
    return got;
}

static void create(world *w, char *name) {
    v1_object_meta_t meta = {.name = name, .labels = pair_list("watched", "yes", NULL)};
    CoreV1API_createNamespacedConfigMap(w->client, w->namespace, &(v1_config_map_t){.metadata = &meta}, NULL, NULL, NULL, NULL);
    ANSWERED(w, 201);
}

static void touch(world *w, char *name) {
    object_t patch = {.temporary = "[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"a\":\"1\"}}]"};
    CoreV1API_patchNamespacedConfigMap(w->client, name, w->namespace, &patch, NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
}

static void delete(world *w, char *name) {
    CoreV1API_deleteNamespacedConfigMap(w->client, name, w->namespace, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
}

static void changes(world *w) {
    char *start = list(w)->metadata->resource_version;
    create(w, "seen");
    touch(w, "seen");
    delete(w, "seen");
    char *got = follow(w, start);
    WANT(strncmp(got, "ADDED seen;MODIFIED seen;DELETED seen;", 38) == 0);
}

static void timeout(world *w) {
    char *got = follow(w, list(w)->metadata->resource_version);
    ANSWERED(w, 200);
    WANT(!strstr(got, "seen"));
}

static void recovery(world *w) {
    create(w, "stays");
    create(w, "goes");
    char *old = list(w)->metadata->resource_version;
    delete(w, "goes");
    create(w, "comes");
    if (!ask("lose history")) {
        skip("the history of this server cannot be taken away");
    }
    EQUAL(follow(w, old), "ERROR 410;");
    v1_config_map_list_t *again = list(w);
    WANT(again->items->count == 2);
    touch(w, "stays");
    char *got = follow(w, again->metadata->resource_version);
    WANT(strncmp(got, "MODIFIED stays;", 15) == 0);
}

const step watch_steps[] = {
    {"watch", changes},
    {"watch ends after timeoutSeconds", timeout},
    {"recovery from 410", recovery},
    {NULL},
};
