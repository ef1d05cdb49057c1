package documents

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/discovery"
	"github.com/wasmgate/wasmgate/gateway/discovery/openapi"
)

const openapiV3 = "/openapi/v3"

// given are the descriptions of what other servers serve, by path; nil for what they do
// not describe.
type given map[string]*openapi.Given

// describe makes the descriptions of others, but for those that are the same as before.
func describe(others *discovery.Others, before given, report func(error)) given {
	out := given{}
	for i := range *others {
		o := &(*others)[i]
		path := openapiV3 + "/apis/" + o.String()
		switch was := before[path]; {
		case o.OpenAPI == nil:
			out[path] = nil
		case was != nil && was.Hash() == o.OpenAPIHash:
			out[path] = was
		default:
			out[path] = openapi.NewGiven(o.OpenAPI, o.OpenAPIHash, report)
		}
	}
	return out
}

// foreign are the descriptions of version 2 that others have, in the order in which
// kube-apiserver gives names to what is in them: by the priorities of groups and versions.
func foreign(others discovery.Others) (out []*openapi.Foreign) {
	first := map[string]int32{}
	for i := range others {
		o := &others[i]
		first[o.Group] = max(first[o.Group], o.Priority.Group)
	}
	others = slices.Clone(others)
	slices.SortStableFunc(others, func(a, b discovery.Other) int {
		return cmp.Or(cmp.Compare(first[b.Group], first[a.Group]), cmp.Compare(a.Group, b.Group),
			cmp.Compare(b.Priority.Version, a.Priority.Version), cmp.Compare(a.Version, b.Version))
	})
	for i := range others {
		if others[i].V2 != nil {
			out = append(out, others[i].V2)
		}
	}
	return out
}

// indexed is the index of descriptions with those of what others serve.
func indexed(others given, body []byte) []byte {
	var index struct {
		Paths map[string]map[string]string `json:"paths"`
	}
	if json.Unmarshal(body, &index) != nil || index.Paths == nil {
		return body
	}
	for at, g := range others {
		path := strings.TrimPrefix(at, openapiV3+"/")
		delete(index.Paths, path)
		if g != nil {
			index.Paths[path] = map[string]string{"serverRelativeURL": at + "?hash=" + url.QueryEscape(g.Hash())}
		}
	}
	if out, err := json.Marshal(index); err == nil {
		return out
	}
	return body
}
