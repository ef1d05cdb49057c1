// Package trial owns how two converters are compared over what is stored: each
// object is brought to each served version and back by both, and nothing is
// written.
//
// It must not know how a module is loaded, nor what becomes of the report.
package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/paging"
)

// pageSize bounds how many objects are read at a time.
const pageSize = 1000

// Trials is the shadow.Trials over a store. All fields are required.
type Trials struct {
	Catalog *catalog.Catalog
	Store   storage.Reader
	// Converter is the converter that the module of that name is.
	Converter func(name string) *conversion.Bulk
}

// Compare implements shadow.Trials: all objects as they are when it is their
// turn, a page at a time. What fails with the module in use is not counted; and parts quote
// no values, as who reads reports need not be allowed to read objects. What a
// module says of its failure is its own affair.
func (t Trials) Compare(ctx context.Context, gr schema.GroupResource, now, next string, told func(module.Part) error) error {
	r, err := t.Catalog.Resource(gr)
	if err != nil {
		return err
	}
	var served []string
	for _, v := range r.Def.Versions {
		if v.Served {
			served = append(served, schema.GroupVersion{Group: gr.Group, Version: v.Name}.String())
		}
	}
	c := comparison{resource: gr.String(), now: t.Converter(now), next: t.Converter(next), told: told}
	// Every page is read at the most recent revision: a pinned one would be
	// compacted away under a long trial.
	pager := paging.New(t.Store, paging.Options{Range: storage.Range{Prefix: r.Root()}, Max: pageSize})
	for {
		page, ok, err := pager.Next(ctx)
		if err != nil || !ok {
			return err
		}
		if err := c.page(ctx, page, served); err != nil {
			return err
		}
	}
}

// comparison is one that is under way.
type comparison struct {
	resource string
	// now is the converter in use, and next the one that may follow it.
	now, next conversion.Converter
	told      func(module.Part) error
	part      module.Part // of the call that is under way
}

// page compares over the objects of one page, and tells whenever the two have brought
// those of one version to another: a call for each of their namespaces, of which each may take as
// long as the limit of a module allows.
func (c *comparison) page(ctx context.Context, page storage.Page, served []string) error {
	byVersion := map[string][][]byte{}
	for _, kv := range page.KVs {
		if from := identify(kv.Value).APIVersion; from != "" { // what cannot be read has no version to leave
			byVersion[from] = append(byVersion[from], kv.Value)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(byVersion)) {
		objects := byVersion[from]
		for _, to := range served {
			if to == from {
				continue
			}
			there, err := c.compare(ctx, from, to, objects)
			if err != nil {
				return err
			}
			if _, err := c.compare(ctx, to, from, there); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare brings objects to a version with both converters, and returns what the
// one in use made of those that it can convert. The error is ctx's or told's.
func (c *comparison) compare(ctx context.Context, from, to string, objects [][]byte) ([][]byte, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	now, err := c.now.Convert(ctx, to, objects)
	if err == nil {
		var next [][]byte
		if next, err = c.next.Convert(ctx, to, objects); err == nil {
			for i := range objects {
				c.count(from, to, now[i], next[i])
			}
			return now, c.tell()
		}
	}
	if ctx.Err() != nil { // there was no time, which is nobody's failure
		return nil, ctx.Err()
	}
	if len(objects) > 1 { // one at a time, to know which
		var all [][]byte
		for i := range objects {
			one, err := c.compare(ctx, from, to, objects[i:i+1])
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	var full interface{ Later() bool }
	if errors.As(err, &full) && full.Later() { // there was no room, which is nobody's failure either
		return nil, err
	}
	var failed *plugins.CallError
	c.part.Late = errors.As(err, &failed) && failed.Kind == plugins.Deadline
	if now != nil { // else it fails today
		c.part.Conversions++
		c.part.Failed++
		c.part.Failures = []module.Failure{{Object: c.resource + " " + nameOf(objects[0]), From: version(from), To: version(to), Reason: reasonOf(err)}}
	}
	return now, c.tell()
}

// tell hands over what came of a call.
func (c *comparison) tell() error {
	part := c.part
	c.part = module.Part{}
	return c.told(part)
}

// count compares what two converters made of one object.
func (c *comparison) count(from, to string, now, next []byte) {
	c.part.Conversions++
	if bytes.Equal(now, next) {
		return
	}
	differ := changes(now, next)
	if len(differ) == 0 {
		return
	}
	c.part.Different++
	name := nameOf(now)
	for _, d := range differ {
		place := module.Place{Resource: c.resource, From: version(from), To: version(to), Path: d.path, Change: d.what}
		c.part.AddDifference(module.Difference{Place: place, Count: 1, Example: name})
	}
}

// nameOf is the namespace and name of an object.
func nameOf(object []byte) string {
	id := identify(object).Metadata
	return strings.TrimPrefix(id.Namespace+"/"+id.Name, "/")
}

func version(apiVersion string) string { return apiVersion[strings.LastIndexByte(apiVersion, '/')+1:] }

// reasonOf is why a conversion failed, without what it may quote of an object.
func reasonOf(err error) string {
	var failed *conversion.Error
	if errors.As(err, &failed) {
		return failed.LogText()
	}
	return err.Error()
}

// identity is what is read of a stored object.
type identity struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
}

// identify reads an object's identity; what cannot be read has none.
func identify(data []byte) (id identity) {
	if json.Unmarshal(data, &id) != nil {
		return identity{}
	}
	return id
}
