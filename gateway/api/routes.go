package api

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// ContentPath names a subresource that is not an object.
type ContentPath struct {
	schema.GroupResource
	Subresource string
}

// Routes are what requests can be about: what the engine's catalog serves, and
// subresources that are not objects, of which there may be none.
type Routes struct {
	Engine      *engine.Engine
	Contents    map[ContentPath]Content
	Questions   map[ContentPath]Question
	Connections map[ContentPath]Connection
}

// Serves reports whether what i names exists.
func (r *Routes) Serves(i *Info) bool {
	res, v := r.Engine.Catalog().Snapshot().Find(i.Group, i.Version, i.Plural)
	if res == nil || i.Subresource == "" {
		return res != nil
	}
	path := ContentPath{res.GroupResource(), i.Subresource}
	return v.Subresources[i.Subresource] != nil || r.Contents[path] != nil || r.Questions[path].Answer != nil || r.Connections[path] != nil
}

// Connects reports whether a request is to be connected to something.
func (r *Routes) Connects(i *Info) bool {
	return i.Subresource != "" && r.Connections[i.contentPath()] != nil
}

// Content is what receives the body of a request as it is; nil when it is decoded.
func (r *Routes) Content(i *Info) Content {
	if i.Verb != "update" || i.Name == "" {
		return nil
	}
	return r.Contents[i.contentPath()]
}

func (i *Info) contentPath() ContentPath {
	return ContentPath{schema.GroupResource{Group: i.Group, Resource: i.Plural}, i.Subresource}
}
