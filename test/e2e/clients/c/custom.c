// Steps with a definition and its objects: through the generic client, which takes and
// gives JSON texts, and through the typed API of custom objects.

#include "CustomObjectsAPI.h"
#include "generic.h"
#include "harness.h"

static genericClient_t *definitions(world *w) {
    return genericClient_create(w->client, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
}

static genericClient_t *widgets(world *w) { return genericClient_create(w->client, w->group, "v1", "widgets"); }

static char *widget(world *w, const char *name, int size) {
    return format("{\"apiVersion\":\"%s/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"size\":%d}}", w->group, name, size);
}

static char *read_widget(world *w) { return Generic_readNamespacedResource(widgets(w), w->namespace, "one"); }
static char *list_widgets(world *w) { return Generic_listNamespaced(widgets(w), w->namespace, NULL); }

static char *patch(world *w, char *type, const char *body, list_t *query) {
    list_t *types = list_createList();
    list_addElement(types, type);
    return Generic_patchNamespacedResource(widgets(w), w->namespace, "one", body, query, NULL, NULL, NULL, types);
}

static void define(world *w) {
    const char *schema =
        "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
        "\"size\":{\"type\":\"integer\",\"minimum\":0},\"color\":{\"type\":\"string\",\"default\":\"red\"}}},"
        "\"status\":{\"type\":\"object\",\"properties\":{\"phase\":{\"type\":\"string\"}}}}}";
    char *body = format(
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"widgets.%s\"},"
        "\"spec\":{\"group\":\"%s\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"widgets\",\"singular\":\"widget\","
        "\"kind\":\"Widget\",\"listKind\":\"WidgetList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
        "\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":%s}}]}}", w->group, w->group, schema);
    Generic_createResource(definitions(w), body, NULL);
    ANSWERED(w, 201);
    for (int tries = 0; !strstr(list_widgets(w), "WidgetList"); tries++) {
        WANT(tries < 600);
        pause_briefly();
    }
}

static void objects(world *w) {
    char *made = Generic_createNamespacedResource(widgets(w), w->namespace, widget(w, "one", 1), NULL);
    ANSWERED(w, 201);
    EQUAL(at(made, "spec"), "{\"color\":\"red\",\"size\":1}");
    char *got = patch(w, "application/merge-patch+json", "{\"spec\":{\"color\":null,\"size\":3}}", NULL);
    EQUAL(at(got, "spec"), "{\"color\":\"red\",\"size\":3}");
    got = patch(w, "application/json-patch+json", "[{\"op\":\"replace\",\"path\":\"/spec/size\",\"value\":4}]", NULL);
    EQUAL(at(got, "spec.size"), "4");
    REFUSED(patch(w, "application/strategic-merge-patch+json", "{}", NULL), "415", "UnsupportedMediaType");
    REFUSED(Generic_replaceNamespacedResource(widgets(w), w->namespace, "one", made), "409", "Conflict");
    Generic_replaceNamespacedResource(widgets(w), w->namespace, "one", got);
    ANSWERED(w, 200);
    REFUSED(Generic_createNamespacedResource(widgets(w), w->namespace, widget(w, "bad", -1), NULL), "422", "Invalid");
    got = Generic_listNamespaced(widgets(w), w->namespace, pair_list("limit", "10", "fieldSelector", "metadata.name=one", NULL));
    EQUAL(at(got, "kind"), "WidgetList");
    WANT(strstr(at(got, "items"), "\"name\":\"one\""));
}

static void applied(world *w) {
    char *got = patch(w, "application/apply-patch+yaml", widget(w, "one", 5), pair_list("fieldManager", "c", "force", "true", NULL));
    ANSWERED(w, 200);
    EQUAL(at(got, "spec.size"), "5");
    got = patch(w, "application/apply-patch+yaml", widget(w, "one", 6), pair_list("fieldManager", "other", NULL));
    REFUSED(got, "409", "Conflict");
    got = patch(w, "application/apply-patch+yaml", widget(w, "one", 7), pair_list("fieldManager", "c", "dryRun", "All", NULL));
    EQUAL(at(got, "spec.size"), "7");
    EQUAL(at(read_widget(w), "spec.size"), "5");
}

static void bare(world *w) {
    REFUSED(Generic_createNamespacedResource(widgets(w), w->namespace, "{\"metadata\":{\"name\":\"bare\"}}", NULL), "400", "BadRequest");
}

// The typed API names JSON patch and merge patch for a patch.
static void typed(world *w) {
    object_t *made = CustomObjectsAPI_createNamespacedCustomObject(
        w->client, w->group, "v1", w->namespace, "widgets", &(object_t){.temporary = widget(w, "two", 1)}, NULL, NULL, NULL, NULL);
    ANSWERED(w, 201);
    EQUAL(at(made->temporary, "spec.color"), "red");
    object_t *got = CustomObjectsAPI_patchNamespacedCustomObject(
        w->client, w->group, "v1", w->namespace, "widgets", "two",
        &(object_t){.temporary = "[{\"op\":\"add\",\"path\":\"/spec/size\",\"value\":2}]"}, NULL, "c", "Strict", NULL);
    ANSWERED(w, 200);
    EQUAL(at(got->temporary, "spec.size"), "2");
    CustomObjectsAPI_replaceNamespacedCustomObject(w->client, w->group, "v1", w->namespace, "widgets", "two", made, NULL, NULL, NULL);
    ANSWERED(w, 409);
    int limit = 1;
    got = CustomObjectsAPI_listNamespacedCustomObject(w->client, w->group, "v1", w->namespace, "widgets", NULL, NULL, NULL, NULL,
                                                      NULL, &limit, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
    WANT(*at(got->temporary, "metadata.continue"));
    CustomObjectsAPI_deleteNamespacedCustomObject(w->client, w->group, "v1", w->namespace, "widgets", "two", NULL, NULL, NULL, NULL, NULL);
    ANSWERED(w, 200);
    CustomObjectsAPI_getNamespacedCustomObject(w->client, w->group, "v1", w->namespace, "widgets", "two");
    ANSWERED(w, 404);
}

static void delete(world *w) {
    Generic_deleteNamespacedResource(widgets(w), w->namespace, "one", "{\"propagationPolicy\":\"Background\"}");
    ANSWERED(w, 200);
    gone(w, read_widget);
}

static void undefine(world *w) {
    Generic_deleteResource(definitions(w), format("widgets.%s", w->group), NULL);
    ANSWERED(w, 200);
    gone(w, list_widgets);
}

const step custom_steps[] = {
    {"create a definition", define},
    {"generic client: custom objects", objects},
    {"apply", applied},
    {"a custom object without apiVersion and kind is refused", bare},
    {"typed API: custom objects", typed},
    {"delete a custom object", delete},
    {"delete the definition", undefine},
    {NULL},
};
