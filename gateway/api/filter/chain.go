package filter

import (
	"cmp"
	"math/rand/v2"
	"regexp"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/bounds"
)

// Config is what a handler and its filters need. All fields are required but Anonymous,
// Auditor, Flow, Bounds and AllowedOrigins, and those that [api.Config] does not require.
type Config struct {
	api.Config
	Authenticator authn.Authenticator
	// Decides is asked whether requests are allowed, in place of the Authorizer; nil for that.
	Decides authz.Authorizer
	// Anonymous tells at which paths requests without credentials are let in, as those
	// of a user that is allowed what there are roles for; nil for nowhere.
	Anonymous func(path string) bool
	// Auditor is told of every request; nil for nobody.
	Auditor api.Auditor
	Log     zerolog.Logger
	// Flow is flow control; nil for none.
	Flow Flow
	// Bounds is how much may be under way at a time; nil for anything.
	Bounds *bounds.Bounds
	// StrictTransportSecurity is that header of all replies; "" for none.
	StrictTransportSecurity string
	// AllowedOrigins match the origins whose pages browsers let send requests; nil for none.
	AllowedOrigins []*regexp.Regexp
	// GoawayChance is how likely a reply closes its connection.
	GoawayChance float64
	// MaxBodyBytes is the largest request body, except for Contents.
	MaxBodyBytes int
}

// New makes a handler whose requests pass all filters.
func New(c Config) *api.Handler { return api.New(c.Config, c.chain()) }

// chain is the way of every request, from the first filter to the last, and of its
// reply back. What records requests stands before all that refuses them. What
// recovers stands behind it, so that a request that failed is recorded, too; once more
// behind what counts requests, so that it is counted.
func (c *Config) chain() []api.Filter {
	return []api.Filter{
		leave,
		name,
		strict(c.StrictTransportSecurity),
		goaway(c.GoawayChance, rand.Float64),
		cors(c.AllowedOrigins),
		audit(c.Auditor),
		recovered(c.Log, render(failed)),
		classify(&c.Routes),
		log(c.Log),
		observe(c.Observer),
		render,
		recovered(c.Log, failed),
		bounded(c.RequestTimeout),
		identify(c.Authenticator, c.Anonymous, c.Log),
		judged(c.Auditor),
		own,
		impersonate(c.Authorizer),
		wait(c.Flow),
		authorize(cmp.Or(c.Decides, c.Authorizer)),
		enter(c.Bounds),
		body(c.MaxBodyBytes),
		timed,
	}
}
