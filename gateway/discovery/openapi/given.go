package openapi

import "k8s.io/kube-openapi/pkg/handler3"

// Given is a description of version 3 that another server made. It is safe for
// concurrent use.
type Given struct{ forms }

// NewGiven is the description in doc, in JSON, which others know by its hash. What cannot
// be shown is reported once.
func NewGiven(doc []byte, hash string, report func(error)) *Given {
	return &Given{newForms(func() string { return hash }, func() (Body, error) { return Body{doc}, nil }, func() (Body, error) {
		return inOne(handler3.ToV3ProtoBinary(doc))
	}, report)}
}

// Hash names the description.
func (g *Given) Hash() string { return g.hashOf() }

// Lookup returns the description in the form that accept likes best; contentType is ""
// where that is none that there is.
func (g *Given) Lookup(accept string) (body Body, contentType, etag string) {
	form := negotiate(accept, v3Protobuf)
	if form == "" {
		return nil, "", ""
	}
	e := g.encoded(form)
	return e.body, form, e.etag()
}
