package main

import (
	"context"
	"path/filepath"
	"slices"
)

const (
	documents     = "gateway/discovery/testdata"
	documentGroup = "disc.example.com"
	definitions   = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	aggregated    = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// keptGroups are the groups that are looked at; of the core group, unserved are
// the resources that wasmgate does not have.
var (
	keptGroups = []string{"coordination.k8s.io", "events.k8s.io", documentGroup}
	unserved   = []string{"nodes/proxy", "services/proxy"}
)

// recordDocuments records discovery, reduced to what wasmgate serves too, with
// the definition that testdata holds.
func recordDocuments(ctx context.Context, s *server) error {
	crd, err := read(filepath.Join(documents, "crd.json"))
	if err != nil {
		return err
	}
	if err := s.define(ctx, crd, "/apis/"+documentGroup+"/v1/disks"); err != nil {
		return err
	}
	for _, d := range []struct{ file, path, accept string }{
		{"api", "/api", ""},
		{"groups", "/apis", "application/json"},
		{"group", "/apis/" + documentGroup, ""},
		{"custom_v1", "/apis/" + documentGroup + "/v1", ""},
		{"custom_v1beta1", "/apis/" + documentGroup + "/v1beta1", ""},
		{"coordination_v1", "/apis/coordination.k8s.io/v1", ""},
		{"events_v1", "/apis/events.k8s.io/v1", ""},
		{"core_v1", "/api/v1", ""},
		{"aggregated_api", "/api", aggregated},
		{"aggregated_apis", "/apis", aggregated},
	} {
		b, err := s.get(ctx, d.path, d.accept)
		if err != nil {
			return err
		}
		document, err := parse(b)
		if err != nil {
			return err
		}
		reduce(document)
		if err := write(filepath.Join(documents, d.file+".json"), document); err != nil {
			return err
		}
	}
	return s.remove(ctx, definitions+"/disks."+documentGroup)
}

// define creates a definition and waits until a path of it is served.
func (s *server) define(ctx context.Context, crd map[string]any, path string) error {
	name := crd["metadata"].(map[string]any)["name"].(string)
	if err := s.remove(ctx, definitions+"/"+name); err != nil {
		return err
	}
	if err := s.create(ctx, definitions, text(crd)); err != nil {
		return err
	}
	return s.await(ctx, path, 200)
}

// reduce leaves of a discovery document what wasmgate serves too.
func reduce(document map[string]any) {
	delete(document, "serverAddressByClientCIDRs")
	keep(document, "groups", func(g map[string]any) bool { return slices.Contains(keptGroups, str(g, "name")) })
	core := str(document, "groupVersion") == "v1"
	keep(document, "resources", func(r map[string]any) bool {
		return !core || !slices.Contains(unserved, str(r, "name"))
	})
	keep(document, "items", func(group map[string]any) bool {
		meta, _ := group["metadata"].(map[string]any)
		name := str(meta, "name")
		if name == "" {
			reduceCore(group)
		}
		return name == "" || slices.Contains(keptGroups, name)
	})
}

// reduceCore does so for the core group of an aggregated document.
func reduceCore(group map[string]any) {
	versions, _ := group["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		keep(v, "resources", func(r map[string]any) bool {
			resource := str(r, "resource")
			keep(r, "subresources", func(s map[string]any) bool {
				return !slices.Contains(unserved, resource+"/"+str(s, "subresource"))
			})
			return !slices.Contains(unserved, resource)
		})
	}
}

// keep leaves the objects of a list field that ok accepts.
func keep(o map[string]any, field string, ok func(map[string]any) bool) {
	all, is := o[field].([]any)
	if !is {
		return
	}
	o[field] = slices.DeleteFunc(all, func(v any) bool {
		m, is := v.(map[string]any)
		return !is || !ok(m)
	})
}

func str(o map[string]any, field string) string {
	s, _ := o[field].(string)
	return s
}
