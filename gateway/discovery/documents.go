package discovery

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd"
)

// Order is the order of versions of one moment.
type Order interface {
	// Apply puts the versions that a group serves into the order.
	Apply(group string, versions []string) []string
}

// Options are what the documents say besides the definitions.
type Options struct {
	// ServerAddress is the host and port that /api names; empty leaves it out.
	ServerAddress string
	// Order, if not nil, puts the served versions of a group, which come in the
	// Kubernetes order, into another one: the result is a permutation.
	Order func(group string, versions []string) []string
	// Others are what other servers serve.
	Others []Other
	// Report is told why a document could not be encoded; required.
	Report func(error)
}

// Documents are all discovery documents for one set of definitions. They are
// immutable and safe for concurrent use; each is made when it is first asked
// for.
type Documents struct {
	byPath map[string]*page
	report func(error)
}

// page is what one path has to offer.
type page struct {
	// plain is the document of that path alone.
	plain *document
	// aggregated are the aggregated forms by version, only below /api and
	// /apis themselves.
	aggregated map[string]*document
}

// New returns the documents for defs, which must not change any more. It costs
// little, so that it can be called for every change.
func New(defs []*crd.Definition, opts Options) *Documents {
	d := &Documents{byPath: map[string]*page{}, report: opts.Report}
	core, groups := groupsOf(defs, opts.Order)
	groups = withOthers(groups, opts.Others)
	d.add("/api", func() runtime.Object { return apiVersions(core, opts) }, core)
	d.add("/apis", func() runtime.Object { return groupList(groups) }, groups...)
	if core != nil {
		for _, v := range core.versions {
			d.add("/api/"+v.name, func() runtime.Object { return v.resourceList() })
		}
	}
	for _, g := range groups {
		d.byPath["/apis/"+g.name] = &page{plain: newDocument(func() runtime.Object { return g.apiGroup(true) }, d.report)}
		for _, v := range g.versions {
			d.byPath["/apis/"+g.name+"/"+v.name] = &page{plain: newDocument(func() runtime.Object { return v.resourceList() }, d.report)}
		}
	}
	return d
}

// add adds a path; groups, if any, are what its aggregated form lists.
func (d *Documents) add(path string, plain func() runtime.Object, groups ...*group) {
	p := &page{plain: newDocument(plain, d.report)}
	if len(groups) > 0 || path == "/apis" {
		p.aggregated = map[string]*document{
			"v2":      newDocument(func() runtime.Object { return aggregate(groups, "v2") }, d.report),
			"v2beta1": newDocument(func() runtime.Object { return aggregate(groups, "v2beta1") }, d.report),
		}
	}
	d.byPath[path] = p
}

// Lookup returns the document at path in the best form that accept, an Accept
// header, allows. ok is false when there is no document at path. When there is
// one, but in no acceptable form, contentType is empty: answer 406. A body that
// is empty could not be made: answer 500. The etag comes quoted. The body must
// not be changed.
func (d *Documents) Lookup(path, accept string) (body []byte, contentType, etag string, ok bool) {
	p := d.byPath[strings.TrimSuffix(path, "/")]
	if p == nil {
		return nil, "", "", false
	}
	doc, f := p.negotiate(accept)
	if doc == nil {
		return nil, "", "", true
	}
	e := doc.encoded(f)
	return e.body, f.contentType, e.etag, true
}
