// Steps through the client's apiClient_invoke, for what has no function of its own, and
// those of another user, who has a token.

#include "CoreV1API.h"
#include "RbacAuthorizationV1API.h"
#include "VersionAPI.h"
#include "harness.h"
#include "kube_config.h"

static void certified(world *w) {
    if (!w->certificate) {
        skip("this server signs no certificates");
    }
    char *base_path = NULL;
    sslConfig_t *ssl = NULL;
    list_t *keys = NULL;
    WANT(load_kube_config(&base_path, &ssl, &keys, w->certificate) == 0);
    char *got = invoke(apiClient_create_with_base_path(base_path, ssl, keys), "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                       NULL, "application/json", "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}");
    EQUAL(at(got, "status.userInfo.username"), "certified");
}

static void table(world *w) {
    v1_object_meta_t meta = {.name = "raw"};
    v1_config_map_t map = {.metadata = &meta, .data = pair_list("a", "1", NULL)};
    CoreV1API_createNamespacedConfigMap(w->client, w->namespace, &map, NULL, NULL, NULL, NULL);
    char *got = invoke(w->client, "GET", format("/api/v1/namespaces/%s/configmaps", w->namespace),
                       pair_list("fieldSelector", "metadata.name=raw", "includeObject", "None", NULL),
                       "application/json;as=Table;v=v1;g=meta.k8s.io", NULL);
    EQUAL(at(got, "kind"), "Table");
    WANT(strstr(at(got, "rows"), "\"cells\":[\"raw\",1,"));
}

static void paths(world *w) {
    version_info_t *version = VersionAPI_getCode(w->client);
    ANSWERED(w, 200);
    WANT(strncmp(version->git_version, "v1.", 3) == 0);
    EQUAL(invoke(w->client, "GET", "/readyz", NULL, "*/*", NULL), "ok");
}

// new_token has the server make a token of a new account.
static char *new_token(world *w) {
    v1_object_meta_t meta = {.name = "reader"};
    CoreV1API_createNamespacedServiceAccount(w->client, w->namespace, &(v1_service_account_t){.metadata = &meta}, NULL, NULL, NULL, NULL);
    ANSWERED(w, 201);
    v1_token_request_spec_t spec = {.audiences = list_createList(), .expiration_seconds = 3600};
    authentication_v1_token_request_t *made = CoreV1API_createNamespacedServiceAccountToken(
        w->client, "reader", w->namespace, &(authentication_v1_token_request_t){.spec = &spec}, NULL, NULL, NULL, NULL);
    ANSWERED(w, 201);
    return made->status->token;
}

// let_read lets the account read the one ConfigMap.
static void let_read(world *w) {
    char *path = format("/apis/rbac.authorization.k8s.io/v1/namespaces/%s/", w->namespace);
    invoke(w->client, "POST", format("%sroles", path), NULL, "application/json",
           "{\"metadata\":{\"name\":\"reader\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],"
           "\"resourceNames\":[\"raw\"],\"verbs\":[\"get\"]}]}");
    ANSWERED(w, 201);
    invoke(w->client, "POST", format("%srolebindings", path), NULL, "application/json",
           format("{\"metadata\":{\"name\":\"reader\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\","
                  "\"name\":\"reader\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"reader\",\"namespace\":\"%s\"}]}", w->namespace));
    ANSWERED(w, 201);
}

static void token(world *w) {
    list_t *keys = pair_list("Authorization", format("Bearer %s", new_token(w)), NULL);
    apiClient_t *reader = apiClient_create_with_base_path(w->base_path, w->ssl, keys);
    char *path = format("/api/v1/namespaces/%s/configmaps/raw", w->namespace);
    char *got = invoke(reader, "GET", path, NULL, "application/json", NULL);
    REFUSED(got, "403", "Forbidden");
    WANT(strstr(got, format("User \\\"system:serviceaccount:%s:reader\\\" cannot get resource \\\"configmaps\\\"", w->namespace)));
    let_read(w);
    for (int tries = 0; !CoreV1API_readNamespacedConfigMap(reader, "raw", w->namespace, NULL); tries++) {
        WANT(tries < 600);
        pause_briefly();
    }
    apiClient_t *nobody = apiClient_create_with_base_path(w->base_path, w->ssl, pair_list("Authorization", "Bearer none", NULL));
    REFUSED(invoke(nobody, "GET", path, NULL, "application/json", NULL), "401", "Unauthorized");
}

const step raw_steps[] = {
    {"a kubeconfig with a certificate", certified},
    {"a table", table},
    {"paths that are not resources", paths},
    {"a service account's token", token},
    {NULL},
};
