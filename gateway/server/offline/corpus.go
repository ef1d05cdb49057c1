package offline

import (
	"context"
	"fmt"
	"strings"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// corpus are the objects of a definition, by version.
type corpus struct {
	d         *crd.Definition
	byVersion map[string][][]byte
}

// readCorpus reads the objects of the kind, or makes some.
func readCorpus(ctx context.Context, what workbench.Corpus) (*corpus, error) {
	d, err := readDefinition(what.Definitions)
	if err != nil {
		return nil, err
	}
	if _, err := pairsOf(d, nil); err != nil {
		return nil, err
	}
	c := &corpus{d, map[string][][]byte{}}
	found := false
	for _, obj := range what.Objects {
		apiVersion, _ := object.String(object.Field(obj, "apiVersion"))
		kind, _ := object.String(object.Field(obj, "kind"))
		group, version, _ := strings.Cut(apiVersion, "/")
		if kind != d.Kind || group != d.Group {
			continue
		}
		if d.Version(version) == nil {
			return nil, fmt.Errorf("%s.%s has no version %s", d.Plural, d.Group, apiVersion)
		}
		c.byVersion[version], found = append(c.byVersion[version], obj), true
	}
	switch {
	case found:
		return c, nil
	case len(what.Objects) > 0:
		return nil, fmt.Errorf("there are no objects of the kind %s in %s", d.Kind, d.Group)
	}
	return c, c.fill(ctx, what.Made)
}

// fill makes objects from the schemas.
func (c *corpus) fill(ctx context.Context, n int) error {
	for _, v := range c.versions() {
		made, err := proof.Samples(c.d, v.Name, 1)
		if err != nil {
			return err
		}
		known, tried := map[string]bool{}, 0
		for obj := range made {
			if tried++; len(c.byVersion[v.Name]) == n || tried > 4*n+16 {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if obj == nil {
				continue
			}
			data, err := object.Encode(obj)
			if err != nil {
				return err
			}
			if !known[string(data)] {
				known[string(data)] = true
				c.byVersion[v.Name] = append(c.byVersion[v.Name], data)
			}
		}
	}
	return nil
}

// versions are those that objects can be read or stored at.
func (c *corpus) versions() (all []*crd.Version) {
	for _, v := range c.d.Versions {
		if v.Served || v.Name == c.d.StorageVersion {
			all = append(all, v)
		}
	}
	return all
}

// pairs calls fn for each version that there are objects of, and each other version.
func (c *corpus) pairs(fn func(from, to *crd.Version, objects [][]byte) error) error {
	for _, from := range c.versions() {
		for _, to := range c.versions() {
			if from == to || len(c.byVersion[from.Name]) == 0 {
				continue
			}
			if err := fn(from, to, c.byVersion[from.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}
