// Drives a server with the official C client, as its users do.
//
//     main NAMESPACE GROUP [KUBECONFIG]
//
// The server is named by the environment variable KUBECONFIG; the user of the other one
// has a certificate. The namespace exists and is empty; the group has no definition yet.

#include "harness.h"
#include "kube_config.h"

int main(int argc, char *argv[]) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s NAMESPACE GROUP [KUBECONFIG]\n", argv[0]);
        return 2;
    }
    world w = {.namespace = argv[1], .group = argv[2], .certificate = argv[3]};
    list_t *keys = NULL;
    if (load_kube_config(&w.base_path, &w.ssl, &keys, getenv("KUBECONFIG")) != 0) {
        fprintf(stderr, "no configuration\n");
        return 1;
    }
    w.client = apiClient_create_with_base_path(w.base_path, w.ssl, keys);
    const step *all[] = {builtin_steps, custom_steps, raw_steps, watch_steps};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        run_all(all[i], &w);
    }
    finished();
    apiClient_free(w.client);
    free_client_config(w.base_path, w.ssl, keys);
    apiClient_unsetupGlobalEnv();
    return 0;
}
