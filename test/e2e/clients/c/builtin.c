// Steps with built-in kinds through the typed API, whose bodies do not carry
// apiVersion and kind. It tells the code of a refusal and not its text.

#include "CoordinationV1API.h"
#include "CoreV1API.h"
#include "harness.h"

#define PAGED "page=yes"

static v1_config_map_t *make(world *w, char *name, list_t *data, list_t *labels, char *dry_run) {
    v1_object_meta_t meta = {.name = name, .labels = labels};
    v1_config_map_t map = {.metadata = &meta, .data = data};
    return CoreV1API_createNamespacedConfigMap(w->client, w->namespace, &map, NULL, dry_run, NULL, NULL);
}

static v1_config_map_t *get(world *w, char *name) {
    return CoreV1API_readNamespacedConfigMap(w->client, name, w->namespace, NULL);
}

// value is what a map has for a key.
static char *value(list_t *map, const char *key) {
    listEntry_t *entry;
    list_ForEach(entry, map) {
        keyValuePair_t *pair = entry->data;
        if (strcmp(pair->key, key) == 0) {
            return pair->value;
        }
    }
    return NULL;
}

static void create(world *w) {
    v1_config_map_t *made = make(w, "one", pair_list("a", "1", NULL), NULL, NULL);
    ANSWERED(w, 201);
    EQUAL(made->kind, "ConfigMap");
    EQUAL(made->api_version, "v1");
    EQUAL(value(made->data, "a"), "1");
    WANT(made->metadata->uid && made->metadata->resource_version && made->metadata->creation_timestamp);
}

static void read_one(world *w) {
    v1_config_map_t *got = get(w, "one");
    ANSWERED(w, 200);
    EQUAL(value(got->data, "a"), "1");
    WANT(!get(w, "nothing"));
    ANSWERED(w, 404);
}

static void secrets(world *w) {
    v1_object_meta_t meta = {.name = "one"};
    v1_secret_t secret = {.metadata = &meta, .data = pair_list("key", "AP8K", NULL)};
    CoreV1API_createNamespacedSecret(w->client, w->namespace, &secret, NULL, NULL, NULL, NULL);
    ANSWERED(w, 201);
    EQUAL(value(CoreV1API_readNamespacedSecret(w->client, "one", w->namespace, NULL)->data, "key"), "AP8K");
}

static void lease(world *w) {
    v1_object_meta_t meta = {.name = "one"};
    v1_lease_spec_t spec = {.holder_identity = "me", .renew_time = "2026-01-02T03:04:05.678901Z"};
    v1_lease_t lease = {.metadata = &meta, .spec = &spec};
    CoordinationV1API_createNamespacedLease(w->client, w->namespace, &lease, NULL, NULL, NULL, NULL);
    ANSWERED(w, 201);
    EQUAL(CoordinationV1API_readNamespacedLease(w->client, "one", w->namespace, NULL)->spec->renew_time, spec.renew_time);
}

static v1_config_map_list_t *list_page(world *w, int *limit, char *token) {
    v1_config_map_list_t *list = CoreV1API_listNamespacedConfigMap(
        w->client, w->namespace, NULL, NULL, token, NULL, PAGED, limit, NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
    return list;
}

static void chunks(world *w) {
    for (int i = 0; i < 7; i++) {
        make(w, format("page-%d", i), NULL, pair_list("page", "yes", NULL), NULL);
        ANSWERED(w, 201);
    }
    char *names = "", *token = NULL;
    int limit = 3;
    do {
        v1_config_map_list_t *page = list_page(w, &limit, token);
        listEntry_t *entry;
        list_ForEach(entry, page->items) {
            names = format("%s %s", names, ((v1_config_map_t *)entry->data)->metadata->name);
        }
        names = format("%s;", names);
        token = page->metadata->_continue;
    } while (token && *token);
    EQUAL(names, " page-0 page-1 page-2; page-3 page-4 page-5; page-6;");
}

// The client names all types of patches that there are, and JSON patch first.
static void json_patch(world *w) {
    object_t patch = {.temporary = "[{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"1\"},{\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"2\"}]"};
    v1_config_map_t *got = CoreV1API_patchNamespacedConfigMap(w->client, "one", w->namespace, &patch, NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
    EQUAL(value(got->data, "b"), "2");
    patch.temporary = "[{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"other\"}]";
    CoreV1API_patchNamespacedConfigMap(w->client, "one", w->namespace, &patch, NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 422);
}

static void replace(world *w) {
    v1_config_map_t *old = get(w, "one");
    old->data = pair_list("d", "4", NULL);
    v1_config_map_t *changed = CoreV1API_replaceNamespacedConfigMap(w->client, "one", w->namespace, old, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
    WANT(strcmp(changed->metadata->resource_version, old->metadata->resource_version) != 0);
    old->data = NULL;
    CoreV1API_replaceNamespacedConfigMap(w->client, "one", w->namespace, old, NULL, NULL, NULL, NULL);
    ANSWERED(w, 409);
    EQUAL(value(get(w, "one")->data, "d"), "4");
}

static void dry_run(world *w) {
    v1_config_map_t *made = make(w, "dry", pair_list("a", "1", NULL), NULL, "All");
    ANSWERED(w, 201);
    WANT(made->metadata->uid);
    get(w, "dry");
    ANSWERED(w, 404);
}

static void delete(world *w) {
    int at_once = 0;
    v1_delete_options_t options = {.propagation_policy = "Background"};
    v1_status_t *status = CoreV1API_deleteNamespacedConfigMap(
        w->client, "one", w->namespace, NULL, NULL, &at_once, NULL, NULL, NULL, &options);
    ANSWERED(w, 200);
    EQUAL(status->status, "Success");
    CoreV1API_deleteCollectionNamespacedConfigMap(w->client, w->namespace, NULL, NULL, NULL, NULL, NULL, NULL, PAGED,
                                                  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
    WANT(list_page(w, NULL, NULL)->items->count == 0);
}

const step builtin_steps[] = {
    {"create a built-in object without apiVersion and kind", create},
    {"get", read_one},
    {"secrets keep their bytes", secrets},
    {"leases keep their microseconds", lease},
    {"list in chunks", chunks},
    {"json patch", json_patch},
    {"replace, and replace with a stale resourceVersion", replace},
    {"dry run", dry_run},
    {"delete, one and many", delete},
    {NULL},
};
