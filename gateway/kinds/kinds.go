// Package kinds owns what a kind can be to the gateway beyond being stored and
// served, which all kinds are: subresources that are questions or bytes, objects
// that nobody stores, admission plugins, steps of the start, controllers. Each kind
// that is any of it has a folder below, and a line in the list, gateway/kinds/all.
//
// It must not know any kind, nor in which order the gateway starts.
package kinds

import (
	"context"
	"crypto/tls"
	"maps"
	"slices"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/admitting/guards"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/api/filter"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds/memory"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/storage"
)

// Config is what kinds are made of. All fields but Guards are required.
type Config struct {
	Options options.Serve
	// Definitions are the built-in kinds that are served.
	Definitions []*crd.Definition
	// Guards are what no request changes; nil is nothing.
	Guards *guards.Guards
	// URL is where clients reach this gateway.
	URL string
	// Trust is what clients verify this gateway by: certificates as PEM.
	Trust []byte
	// ProxyCertificate is what servers behind this one know it by, and ProxyTrust what
	// verifies it, as PEM: nil where only the operator knows.
	ProxyCertificate func() (*tls.Certificate, error)
	ProxyTrust       []byte
	// ClientAuthorities are the files of the authorities whose client certificates are
	// believed.
	ClientAuthorities []string
	Store             storage.Store
	StoreHealth       health.Check
	Metrics           *metrics.Metrics
	// ModuleMemory is where the memory of instances of modules comes from.
	ModuleMemory memory.Account
	// Turns are taken for work that takes a processor for long.
	Turns resource.Turns
	Log   zerolog.Logger
}

// Has reports whether a built-in kind is served.
func (c Config) Has(gr schema.GroupResource) bool {
	return slices.ContainsFunc(c.Definitions, func(d *crd.Definition) bool { return d.GroupResource() == gr })
}

// Kind is what one kind, or a few that belong together, do beyond being stored.
// All fields may be nil.
type Kind struct {
	// Extend adds to a definition, of whatever kind, before it is served.
	Extend func(*crd.Definition)
	// Reports are kinds whose objects are found out when they are asked for.
	Reports map[schema.GroupResource]resource.Report
	// Compile and Convert are of the kind whose objects define kinds: what is served
	// of a stored one, and the converter between its versions.
	Compile func(stored []byte, previous *crd.Definition) (*crd.Definition, error)
	Convert func(*crd.Definition) (conversion.Converter, error)
	// Authorizer makes who decides on requests by the kind's objects, in the mode of
	// --authorization-mode that is called RBAC.
	Authorizer func(*catalog.Catalog) authz.Decider
	// Admission makes the admission plugins that are the kind's, once there is an
	// engine; may answers what users may do.
	Admission func(e *engine.Engine, may authz.Decider) ([]admission.Plugin, error)
	// Serve makes what takes part in requests and in the background, once there is
	// an engine. Nothing has run yet.
	Serve func(*engine.Engine) (Served, error)
	// Close frees what was made with the kind.
	Close func(context.Context) error
}

// Runs is the Serve of kinds that have controllers and nothing else.
func Runs(controllers func(*engine.Engine) []Controller) func(*engine.Engine) (Served, error) {
	return func(e *engine.Engine) (Served, error) {
		return Served{Controllers: func() []Controller { return controllers(e) }}, nil
	}
}

// Served is what a kind does once there is an engine. All fields may be nil.
type Served struct {
	// Contents, Questions and Connections are subresources that are no part of an
	// object.
	Contents    map[api.ContentPath]api.Content
	Questions   map[api.ContentPath]api.Question
	Connections map[api.ContentPath]api.Connection
	// Flow says which requests wait; nil where the kind does not.
	Flow filter.Flow
	// Elsewhere knows what other servers answer; nil where the kind does not.
	Elsewhere api.Elsewhere
	// Others are what those serve: the same as long as nothing changed.
	Others func() *discovery.Others
	// Documents are fixed replies, by path.
	Documents map[string]reply.Response
	// Debug are documents that only who looks for a fault knows of.
	Debug []api.Documents
	// Authenticators believe what the kind stands for, tokens for instance.
	Authenticators []authn.Authenticator
	// Reviews answer objects that are questions, given who believes and who allows.
	Reviews Reviews
	// Orders returns the order of versions that is in force; nil where the kind gives
	// none.
	Orders func() discovery.Order
	// Starts are steps of the start, in order.
	Starts []Start
	// Controllers makes what runs in one gateway of those that share a store: new
	// ones each time that this gateway is elected, as what controllers remember is of
	// one run.
	Controllers func() []Controller
}

// Reviews makes what answers objects that are questions, given who believes and who
// allows.
type Reviews = func(authn.Authenticator, authz.Decider) map[schema.GroupResource]api.Review

// Start is a step of the start that has to end before the gateway is ready.
type Start struct {
	// Name is that of the check that fails until then (poststarthook/NAME).
	Name string
	// First steps end before controllers begin; they stand before all others.
	First bool
	// Run takes the step; gateway is what this one is called among those that share
	// a store. What has to go on afterwards is given to work, where it ends when ctx
	// does. It fails when the gateway should not serve.
	Run func(ctx context.Context, gateway string, work func(func())) error
	// Leave tells others that this gateway goes, once it is told to stop and while it
	// still answers; nil where nobody has to know. It may be called while Run runs, or
	// before, and is not waited for when ctx has ended.
	Leave func(ctx context.Context) error
}

// Controller is a controller, by the name under which --controllers turns it off;
// "" cannot be turned off.
type Controller struct {
	Switch string
	controller.Controller
}

// Add adds what another kind does.
func (s *Served) Add(other Served) {
	s.Contents = merged(s.Contents, other.Contents)
	s.Questions = merged(s.Questions, other.Questions)
	s.Connections = merged(s.Connections, other.Connections)
	s.Documents = merged(s.Documents, other.Documents)
	s.Debug = append(s.Debug, other.Debug...)
	s.Starts = append(s.Starts, other.Starts...)
	s.Controllers = both(s.Controllers, other.Controllers)
	s.Authenticators = append(s.Authenticators, other.Authenticators...)
	s.Reviews = allReviews(s.Reviews, other.Reviews)
	if other.Flow != nil {
		s.Flow = other.Flow
	}
	if other.Elsewhere != nil {
		s.Elsewhere, s.Others = other.Elsewhere, other.Others
	}
	if other.Orders != nil {
		s.Orders = other.Orders
	}
}

// allReviews are those of two kinds, of which one may have none.
func allReviews(a, b Reviews) Reviews {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(who authn.Authenticator, may authz.Decider) map[schema.GroupResource]api.Review {
		return merged(a(who, may), b(who, may))
	}
}

func merged[K comparable, V any](a, b map[K]V) map[K]V {
	if a == nil {
		a = map[K]V{}
	}
	maps.Copy(a, b)
	return a
}

// both makes what two make, where there are two.
func both(a, b func() []Controller) func() []Controller {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func() []Controller { return append(a(), b()...) }
}
