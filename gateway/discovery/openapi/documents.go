package openapi

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/handler3"

	"github.com/wasmgate/wasmgate/crd"
)

// Documents are the OpenAPI documents for one set of definitions. They are
// immutable and safe for concurrent use.
type Documents struct {
	kinds map[*crd.Version]*kind
	// byKey are the kinds by group, version and plural.
	byKey map[string]*kind
	// versions are the group versions by their path below /openapi/v3, such as
	// "api/v1" and "apis/example.com/v1".
	versions map[string]*groupVersion

	order func(group string, versions []string) []string
	index func() *encoded
	v2    *whole
}

// encoded is a finished document.
type encoded struct {
	body Body
	hash string
}

func (e *encoded) etag() string { return `"` + e.hash + `"` }

// Options are what the documents need besides the definitions.
type Options struct {
	// Order, if not nil, puts the served versions of a group into the order in
	// which the index lists them: the result is a permutation.
	Order func(group string, versions []string) []string
	// Foreign are what other servers describe, in the order of their precedence: they
	// become part of version 2.
	Foreign []*Foreign
	// Report is told, while documents are made on first use, of each kind that
	// cannot be described and so is left out, and of each document that cannot
	// be encoded; required.
	Report func(error)
}

// New returns the documents for defs, which must not change any more. What is
// unchanged since previous (nil for none) is taken over from it.
func New(defs []*crd.Definition, previous *Documents, opts Options) *Documents {
	d := &Documents{kinds: map[*crd.Version]*kind{}, byKey: map[string]*kind{}, versions: map[string]*groupVersion{}, order: opts.Order}
	report := opts.Report
	if previous == nil {
		previous = &Documents{}
	}
	byPath := map[string][]*kind{}
	var all []*kind
	for _, def := range defs {
		for _, v := range def.Versions {
			if !v.Served {
				continue
			}
			k := previous.kinds[v]
			if k == nil {
				k = newKind(def, v, report)
				if old := previous.byKey[k.sortKey]; old != nil && old.hash() == k.hash() {
					k = old
				}
			}
			d.kinds[v], d.byKey[k.sortKey] = k, k
			all = append(all, k)
			path := groupPath(k.at.Group, k.at.Version)
			byPath[path] = append(byPath[path], k)
		}
	}
	for path, kinds := range byPath {
		sortKinds(kinds)
		gv := previous.versions[path]
		if gv == nil || !slices.Equal(gv.kinds, kinds) {
			gv = newGroupVersion(kinds, report)
		}
		d.versions[path] = gv
	}
	sortKinds(all)
	if d.v2 = previous.v2; d.v2 == nil || !slices.Equal(d.v2.kinds, all) || !slices.Equal(d.v2.foreign, opts.Foreign) {
		d.v2 = newWhole(all, opts.Foreign, d.v2, report)
	}
	d.index = sync.OnceValue(func() *encoded {
		e, err := d.makeIndex()
		if err != nil {
			report(fmt.Errorf("the index of OpenAPI documents: %w", err))
		}
		return e
	})
	return d
}

// sortKinds puts those first of whose names no others may take one.
func sortKinds(kinds []*kind) {
	slices.SortFunc(kinds, func(a, b *kind) int {
		if mine := a.version.Native(); mine != b.version.Native() {
			if mine {
				return -1
			}
			return 1
		}
		return strings.Compare(a.sortKey, b.sortKey)
	})
}

func groupPath(group, version string) string {
	if group == "" {
		return "api/" + version
	}
	return "apis/" + group + "/" + version
}

func digest(data []byte) string { return fmt.Sprintf("%X", sha512.Sum512(data)) }

const indexPath, v2Path = "/openapi/v3", "/openapi/v2"

// makeIndex lists the documents with their hashes. It does not make them.
func (d *Documents) makeIndex() (*encoded, error) {
	body := []byte(`{"paths":{`)
	for i, path := range d.paths() {
		u := url.URL{Path: indexPath + "/" + path, RawQuery: "hash=" + d.versions[path].hash()}
		key, err := json.Marshal(path)
		if err != nil {
			return &encoded{}, err
		}
		value, err := json.Marshal(handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: u.String()})
		if err != nil {
			return &encoded{}, err
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(append(append(body, key...), ':'), value...)
	}
	body = append(body, "}}"...)
	return &encoded{body: Body{body}, hash: digest(body)}, nil
}

// paths are those of the documents, by group and then in the order of the
// group's versions.
func (d *Documents) paths() []string {
	paths := slices.Sorted(maps.Keys(d.versions))
	if d.order == nil {
		return paths
	}
	var out []string
	for len(paths) > 0 {
		n, versions := 0, []string(nil)
		prefix := paths[0][:strings.LastIndexByte(paths[0], '/')+1]
		for n < len(paths) && strings.HasPrefix(paths[n], prefix) {
			versions = append(versions, paths[n][len(prefix):])
			n++
		}
		_, group, _ := strings.Cut(strings.TrimSuffix(prefix, "/"), "/")
		for _, v := range d.order(group, versions) {
			out = append(out, prefix+v)
		}
		paths = paths[n:]
	}
	return out
}

// Lookup returns the document at path in the best form that accept, an Accept
// header, allows. ok is false when there is no document at path. When there is
// one, but in no acceptable form, contentType is empty: answer 406. A body that
// is empty could not be made: answer 500.
//
// The etag comes quoted; for the documents below /openapi/v3 it is the hash
// that the index gives, so a request with another one in its query belongs
// redirected to the right one, and a reply to the right one never changes.
func (d *Documents) Lookup(path, accept string) (body Body, contentType, etag string, ok bool) {
	path = strings.TrimSuffix(path, "/")
	switch path {
	case indexPath:
		e := d.index()
		return e.body, mediaJSON, e.etag(), true
	case v2Path:
		form := negotiate(accept, v2Protobuf)
		if form == "" {
			return nil, "", "", true
		}
		e := d.v2.now().encoded(form)
		return e.body, form, e.etag(), true
	}
	below, found := strings.CutPrefix(path, indexPath+"/")
	gv := d.versions[below]
	if !found || gv == nil {
		return nil, "", "", false
	}
	form := gv.negotiate(accept)
	if form == "" {
		return nil, "", "", true
	}
	e := gv.encoded(form)
	return e.body, form, e.etag(), true
}
