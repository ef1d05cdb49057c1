package main

import (
	"context"
	"strings"
)

// bootstrapFile is what a kube-apiserver begins with that nobody used yet.
const bootstrapFile = "gateway/kinds/rbac/testdata/bootstrap.json"

// recordBootstrap records the roles and bindings of the beginning, but for what is of
// one server: uids, times, revisions and owners of fields.
func recordBootstrap(ctx context.Context, s *server) error {
	out := map[string]any{}
	for _, plural := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		b, err := s.get(ctx, "/apis/rbac.authorization.k8s.io/v1/"+plural+"?labelSelector="+strings.ReplaceAll("kubernetes.io/bootstrapping=rbac-defaults", "/", "%2F"), "application/json")
		if err != nil {
			return err
		}
		list, err := parse(b)
		if err != nil {
			return err
		}
		items, _ := list["items"].([]any)
		for _, item := range items {
			o, _ := item.(map[string]any)
			m, _ := o["metadata"].(map[string]any)
			for _, field := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields"} {
				delete(m, field)
			}
		}
		out[plural] = items
	}
	return write(bootstrapFile, out)
}
