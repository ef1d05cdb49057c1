package api

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// ContentPath names a subresource that is not an object, or with none a kind whose
// objects are questions.
type ContentPath struct {
	schema.GroupResource
	Subresource string
}

// Elsewhere knows what other servers answer.
type Elsewhere interface {
	// Find returns who answers requests for a version of a group, nil for this
	// gateway.
	Find(group, version string) Remote
}

// Remote is another server, which requests are passed on to.
type Remote interface {
	// Serve passes on a request that was allowed, whose body was read or is coming.
	Serve(ctx context.Context, c *Call) *reply.Response
}

// Routes are what requests can be about: what the engine's catalog serves, and
// subresources that are not objects, of which there may be none.
type Routes struct {
	Engine      *engine.Engine
	Contents    map[ContentPath]Content
	Questions   map[ContentPath]Question
	Connections map[ContentPath]Connection
	// Elsewhere comes before what is served here; nil where there is nothing else.
	Elsewhere Elsewhere
}

// route is where a request leads in what is served at one moment.
type route struct {
	// serial is that of the snapshot; 0 before anything was looked for.
	serial uint64
	// resource and version are nil where there is no such resource.
	resource *catalog.Resource
	version  *crd.Version
	// Of these there is at most one.
	content    Content
	question   *Question
	connection Connection
}

// find finds out where c leads in what is served now, which it returns: once, and
// again when that is something else.
func (r *Routes) find(c *Call) *catalog.Snapshot {
	s := r.Engine.Catalog().Snapshot()
	if c.serial == s.Serial {
		return s
	}
	c.route = route{serial: s.Serial}
	if c.resource, c.version = s.Find(c.Group, c.Version, c.Plural); c.resource == nil || c.Subresource == "" && !c.resource.Def.Question() {
		return s
	}
	path := ContentPath{c.resource.GroupResource(), c.Subresource}
	c.content, c.connection = r.Contents[path], r.Connections[path]
	if q, ok := r.Questions[path]; ok {
		c.question = &q
	}
	return s
}

// Served reports whether what the request names exists.
func (c *Call) Served() bool {
	return c.resource != nil && (c.Subresource == "" || c.version.Subresources[c.Subresource] != nil || c.content != nil || c.question != nil || c.connection != nil)
}

// PassedOn reports whether another server answers the request.
func (c *Call) PassedOn() bool { return c.remote != nil }

// Upgrades reports whether the request is to be connected to another server.
func (c *Call) Upgrades() bool { return c.PassedOn() && c.Upgrade }

// Connects reports whether the request is to be connected to something.
func (c *Call) Connects() bool { return c.connection != nil }

// Content is what receives the body of the request as it is; nil when it is decoded.
func (c *Call) Content() Content {
	if c.Verb != "update" || c.Name == "" {
		return nil
	}
	return c.content
}
