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
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/controller/module"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/paging"
)

const (
	// maxSamples bounds the samples of a part.
	maxSamples = 10
	// pageSize bounds how many objects are read at a time.
	pageSize = 1000
)

// Trials is the shadow.Trials over a store. All fields are required.
type Trials struct {
	Catalog *catalog.Catalog
	Store   storage.Reader
	// Converter is the converter that the module of that name is.
	Converter func(name string) *conversion.Bulk
}

// Compare implements shadow.Trials: all objects as they are when it is their
// turn, a page at a time. What fails with the module in use is not counted; and samples quote
// no values, as who reads reports need not be allowed to read objects. What a
// module says of its failure is its own affair.
func (t Trials) Compare(ctx context.Context, gr schema.GroupResource, now, next string, told func(module.Report) error) error {
	r := t.Catalog.Snapshot().Resource(gr)
	if r == nil {
		return apierrors.NewNotFound(gr, "")
	}
	rewriter, err := t.Catalog.Rewriter(gr)
	if err != nil {
		return err
	}
	var served []string
	for _, v := range r.Def.Versions {
		if v.Served {
			served = append(served, schema.GroupVersion{Group: gr.Group, Version: v.Name}.String())
		}
	}
	pair := converters{now: t.Converter(now), next: t.Converter(next)}
	// Every page is read at the most recent revision: a pinned one would be
	// compacted away under a long trial.
	pager := paging.New(t.Store, paging.Options{Range: storage.Range{Prefix: rewriter.Prefix}, Max: pageSize})
	for {
		page, ok, err := pager.Next(ctx)
		if err != nil || !ok {
			return err
		}
		if err := comparePage(ctx, page, served, pair, told); err != nil {
			return err
		}
	}
}

// comparePage compares over the objects of one page, and tells of each call of
// the two: one may take as long as the limit of a module allows.
func comparePage(ctx context.Context, page storage.Page, served []string, pair converters, told func(module.Report) error) error {
	c := comparison{converters: pair, told: told}
	byVersion := map[string][][]byte{}
	for _, kv := range page.KVs {
		if from := identify(kv.Value).APIVersion; from != "" { // what cannot be read has no version to leave
			byVersion[from] = append(byVersion[from], kv.Value)
		}
	}
	for from, objects := range byVersion {
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

// converters are the one in use, and the one that may follow it.
type converters struct{ now, next conversion.Converter }

// comparison is one that is under way.
type comparison struct {
	converters
	told   func(module.Report) error
	report module.Report // of the call that is under way
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
	if now != nil { // else it fails today
		c.report.Conversions++
		c.report.Failed++
		c.sample(objects[0], from, to, reasonOf(err))
	}
	return now, c.tell()
}

// tell hands over what came of a call.
func (c *comparison) tell() error {
	part := c.report
	c.report = module.Report{}
	return c.told(part)
}

// count compares what two converters made of one object.
func (c *comparison) count(from, to string, now, next []byte) {
	c.report.Conversions++
	if bytes.Equal(now, next) {
		return
	}
	path, differ := firstDifference(now, next)
	if !differ {
		return
	}
	c.report.Different++
	c.sample(now, from, to, path)
}

func (c *comparison) sample(object []byte, from, to, difference string) {
	if len(c.report.Samples) == maxSamples {
		return
	}
	id := identify(object).Metadata
	c.report.Samples = append(c.report.Samples, module.Sample{
		Object: strings.TrimPrefix(id.Namespace+"/"+id.Name, "/"), From: version(from), To: version(to), Difference: difference,
	})
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

// firstDifference is where two JSON objects differ, in the order of their keys.
func firstDifference(now, next []byte) (path string, differ bool) {
	var a, b any
	if err := errors.Join(decode(now, &a), decode(next, &b)); err != nil {
		return fmt.Sprintf("cannot be compared: %v", err), true
	}
	return difference("", a, b)
}
