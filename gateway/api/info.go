package api

import (
	"net/http"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// Info is what a request's method, path and watch parameter say. It is parsed
// once, before authorization (row VERB-01).
type Info struct {
	// Resource tells a request about API objects from all others.
	Resource bool
	// Verb is the API verb, or the lower-case method for other requests.
	Verb        string
	Group       string
	Version     string
	Namespace   string
	Plural      string
	Name        string
	Subresource string
	Path        string
	// Selected is the name that a list or a watch is narrowed to, which counts as what
	// is asked for where somebody decides whether it may be.
	Selected string
	// selectors are those that narrow a list, a watch or a deletion of a collection, as the
	// request has them.
	selectors authz.UnreadSelectors
	// below is what the path has after the subresource.
	below string
	// scoped: the path says in which namespace, and does not name one.
	scoped bool
	// old: the path asks for a watch, as it was done before there was a parameter.
	old bool
}

// Attributes are the question whether a user may do what the request asks for.
func (i *Info) Attributes(u *authn.User) authz.Attributes {
	name := i.Name
	if name == "" {
		name = i.Selected
	}
	return authz.Attributes{
		User: u, Verb: i.Verb, Group: i.Group, Version: i.Version, Resource: i.Plural, Subresource: i.Subresource,
		Namespace: i.Namespace, Name: name, Path: i.Path, ResourceRequest: i.Resource, Unread: i.selectors,
	}
}

// narrows reports whether the request may be about a part of the objects of a kind. Of a
// watch by its path authorizers are told of all of them, as kube-apiserver does.
func (i *Info) narrows() bool {
	return i.Resource && !i.old && (i.Verb == "list" || i.Verb == "watch" || i.Verb == "deletecollection")
}

// Describe tells what the request is about, once it is known and who asks.
func (c *Call) Describe() authz.Attributes { return c.Info.Attributes(c.User) }

// namespaceSubresources are the third segments below a namespace that are
// about the namespace itself.
var namespaceSubresources = map[string]bool{"status": true, "finalize": true}

// parseInfo classifies a request.
func parseInfo(method, path string, watch bool) Info {
	i := Info{Path: path, Verb: strings.ToLower(method)}
	rest, core := strings.CutPrefix(path, "/api/")
	if !core {
		var named bool
		if rest, named = strings.CutPrefix(path, "/apis/"); !named {
			return i
		}
		if i.Group, rest, named = strings.Cut(rest, "/"); !named || i.Group == "" {
			return i
		}
	}
	version, rest, deep := strings.Cut(rest, "/")
	i.Version = version
	rest = strings.TrimSuffix(rest, "/")
	if !deep || rest == "" || version == "" {
		return i
	}
	parts := strings.Split(rest, "/")
	if parts[0] == "watch" && len(parts) > 1 {
		i.old, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !(len(parts) == 3 && i.Group == "" && namespaceSubresources[parts[2]]) {
		i.Namespace, i.scoped = parts[1], true
		parts = parts[2:]
	} else if parts[0] == "namespaces" && len(parts) >= 2 && i.Group == "" {
		i.Namespace = parts[1] // as kube-apiserver reports it to authorizers
	}
	i.Resource = true
	i.Plural = parts[0]
	if len(parts) > 1 {
		i.Name = parts[1]
	}
	if len(parts) > 2 {
		i.Subresource, i.below = parts[2], strings.Join(parts[3:], "/")
	}
	if i.Verb = verb(method, i.Name != "", watch); i.old {
		i.Verb = "watch"
	}
	return i
}

func verb(method string, named, watch bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case named:
			return "get"
		case watch && method == http.MethodGet: // a HEAD has no body to stream
			return "watch"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	}
	return "" // as kube-apiserver reports it to authorizers
}
