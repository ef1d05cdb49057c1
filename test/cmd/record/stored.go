package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	builtIns        = "crd/builtin/testdata"
	builtInsSpace   = "bi-ns"
	namespaces      = "/api/v1/namespaces"
	definitionFile  = "crd/definition/testdata/stored.json"
	objectFile      = "crd/custom/testdata/stored.json"
	storedGroup     = "custompart.example.com"
	storedObject    = `{"apiVersion":"custompart.example.com/v1","kind":"Foo","metadata":{"name":"a","annotations":{"q":"<&>é\u2028"}}}`
	registry        = "/registry/"
	storedNamespace = "default"
)

// golden is an object as it is served and as it stands in etcd.
type golden struct {
	Served json.RawMessage `json:"served"`
	Stored []byte          `json:"stored"`
}

// recordBuiltIns makes each object of testdata anew, so that a file says both
// what to make and what came of it.
func recordBuiltIns(ctx context.Context, s *server) error {
	files, err := filepath.Glob(filepath.Join(builtIns, "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("nothing in %s: %w", builtIns, err)
	}
	if err := s.create(ctx, namespaces, `{"metadata":{"name":"`+builtInsSpace+`"}}`); err != nil {
		return err
	}
	for _, file := range files {
		if err := s.recordBuiltIn(ctx, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func (s *server) recordBuiltIn(ctx context.Context, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var g golden
	if err := json.Unmarshal(b, &g); err != nil {
		return err
	}
	wanted, err := parse(g.Served)
	if err != nil {
		return err
	}
	meta := wanted["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, field)
	}
	collection, key := paths(wanted)
	path := collection + "/" + str(meta, "name")
	// The namespace holds the other objects: it is recorded as it is.
	if str(wanted, "kind") != "Namespace" {
		if err := s.remove(ctx, path); err != nil {
			return err
		}
		if err := s.create(ctx, collection, text(wanted)); err != nil {
			return err
		}
	}
	served, err := s.get(ctx, path, "application/json")
	if err != nil {
		return err
	}
	g.Served = served
	if g.Stored, err = s.stored(ctx, key); err != nil {
		return err
	}
	return write(file, g)
}

// paths are the collection of an object and its key in etcd.
func paths(o map[string]any) (collection, key string) {
	meta := o["metadata"].(map[string]any)
	plural := strings.ToLower(str(o, "kind")) + "s"
	if one, isY := strings.CutSuffix(plural, "ys"); isY {
		plural = one + "ies"
	}
	name, space := str(meta, "name"), str(meta, "namespace")
	prefix := "/api/v1"
	if gv := str(o, "apiVersion"); strings.Contains(gv, "/") {
		prefix = "/apis/" + gv
	}
	if space == "" {
		return prefix + "/" + plural, registry + plural + "/" + name
	}
	return prefix + "/namespaces/" + space + "/" + plural, registry + plural + "/" + space + "/" + name
}

// recordCustom records how a definition and an object of it are stored.
func recordCustom(ctx context.Context, s *server) error {
	schema := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string", "default": "x<y"}}}
	crd := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "foos." + storedGroup},
		"spec": map[string]any{"group": storedGroup, "scope": "Namespaced", "names": map[string]any{"plural": "foos", "kind": "Foo"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": schema}}}},
	}
	collection := "/apis/" + storedGroup + "/v1/namespaces/" + storedNamespace + "/foos"
	if err := s.define(ctx, crd, collection); err != nil {
		return err
	}
	if err := s.create(ctx, collection, storedObject); err != nil {
		return err
	}
	for file, key := range map[string]string{
		definitionFile: "apiextensions.k8s.io/customresourcedefinitions/foos." + storedGroup,
		objectFile:     storedGroup + "/foos/" + storedNamespace + "/a",
	} {
		b, err := s.stored(ctx, registry+key)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(b, []byte("{")) {
			return fmt.Errorf("%s is not stored as JSON", key)
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			return err
		}
	}
	return s.remove(ctx, definitions+"/foos."+storedGroup)
}

// text is an object as JSON; it was read from JSON or made here, so that it
// cannot fail to be written.
func text(o map[string]any) string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(b)
}
