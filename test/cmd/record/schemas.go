package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

const (
	schemas     = "gateway/discovery/openapi/testdata"
	schemaGroup = "open.example.com"
	schemaModel = "com.example.open.v1.Listed"
)

// recordSchemas records how the OpenAPI documents describe the custom resource
// that testdata defines.
func recordSchemas(ctx context.Context, s *server) error {
	crd, err := read(filepath.Join(schemas, "crd.json"))
	if err != nil {
		return err
	}
	if err := s.define(ctx, crd, "/apis/"+schemaGroup+"/v1/lists"); err != nil {
		return err
	}
	for _, d := range []struct {
		file, path string
		within     []string
	}{
		{"listed_v2", "/openapi/v2", []string{"definitions"}},
		{"listed_v3", "/openapi/v3/apis/" + schemaGroup + "/v1", []string{"components", "schemas"}},
	} {
		schema, err := s.schema(ctx, d.path, append(d.within, schemaModel))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(schemas, d.file+".json"), schema); err != nil {
			return err
		}
	}
	return s.remove(ctx, definitions+"/lists."+schemaGroup)
}

// schema waits for a document to have an object at those fields: documents are
// published some time after a definition is served.
func (s *server) schema(ctx context.Context, path string, fields []string) (map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		b, err := s.get(ctx, path, "application/json")
		if err == nil {
			var found map[string]any
			if found, err = parse(b); err != nil {
				return nil, err
			}
			for _, f := range fields {
				found, _ = found[f].(map[string]any)
			}
			if found != nil {
				return found, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s has no %v: %w", path, fields, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
