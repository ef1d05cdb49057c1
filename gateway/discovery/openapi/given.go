package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// maxGiven bounds a description of version 3 that another server made, in bytes. That of
// Kubernetes' v1 has 2 MB.
const maxGiven = 4 << 20

// CheckGiven tells why a description of version 3 that another server made is not shown:
// it is no JSON, or would take too much for who wants it in protobuf.
func CheckGiven(doc []byte) error {
	if len(doc) > maxGiven {
		return fmt.Errorf("it has %d bytes, more than %d", len(doc), maxGiven)
	}
	if !json.Valid(doc) {
		return errors.New("it is no JSON")
	}
	switch deep, values := Extent(doc); {
	case deep > maxDepth:
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	case values > maxValues:
		return fmt.Errorf("it has more than %d values", maxValues)
	}
	return nil
}

// Given is a description of version 3 that another server made. It is safe for
// concurrent use.
type Given struct{ forms }

// giving is held by who puts a description into protobuf, one at a time: it takes memory.
var giving sync.Mutex

// NewGiven is the description in doc, for which [CheckGiven] had no objection, and which
// others know by its hash. What cannot be shown is reported once.
func NewGiven(doc []byte, hash string, report func(error)) *Given {
	return &Given{newForms(func() string { return hash }, func() (Body, error) { return Body{doc}, nil }, func() (Body, error) {
		giving.Lock()
		defer giving.Unlock()
		return inOne(asProtobuf3(doc))
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
