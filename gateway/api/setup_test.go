package api

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
	"github.com/wasmgate/wasmgate/gateway/bounds/flow"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/catalog/catalogtest"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// Setup is what tests make a handler of, with all filters.
type Setup struct {
	Config
	Authenticator authn.Authenticator
	Auditor       Auditor
	Log           zerolog.Logger
	Bounds        *bounds.Bounds
	Flow          interface{ Control() *flow.Control }
	MaxBodyBytes  int
}

// NewHandler is set by a file of the tests that may import the filters, which import
// this package.
var NewHandler func(Setup) *Handler

// deciding is an authorizer that tests may replace.
type deciding struct{ authz.Authorizer }

// ordinary lets administrators do everything, who is known ask about oneself, and
// everybody read what is open.
type ordinary struct{ authz.Masters }

func (o ordinary) Authorize(ctx context.Context, a authz.Attributes) (bool, string, error) {
	if a.ResourceRequest && a.Verb == "create" && strings.HasPrefix(a.Resource, "selfsubject") && a.User.In(authn.AllAuthenticated) {
		return true, "", nil
	}
	if !a.ResourceRequest && authz.Open(a.Verb, a.Path) {
		return true, "", nil
	}
	return o.Masters.Authorize(ctx, a)
}

// unready is an engine that was never run.
func unready(t *testing.T) *engine.Engine {
	t.Helper()
	store := storagetest.NewMemory()
	return engine.New(engine.Options{Store: store, Catalog: catalog.New(catalog.Options{
		Store: store, Prefix: "/registry/", Builtins: []*crd.Definition{definition.Definition()}, Compile: catalogtest.Compile,
		Convert: func(*crd.Definition) (conversion.Converter, error) { return nil, nil },
	})})
}

// a is a widget's JSON.
func a(name, spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
}

// tree is the body, parsed.
func (r *answer) tree() map[string]any {
	r.t.Helper()
	var tree map[string]any
	if err := json.Unmarshal([]byte(r.body), &tree); err != nil {
		r.t.Fatalf("%v: %.300s", err, r.body)
	}
	return tree
}
