package documents

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/wasmgate/wasmgate/gateway/discovery"
)

const openapiV3 = "/openapi/v3"

// described is the description of what another server serves, by its path.
func described(others *discovery.Others, path string) (body []byte, etag string, ok bool) {
	for i := range *others {
		if o := &(*others)[i]; o.OpenAPI != nil && path == openapiV3+"/apis/"+o.String() {
			return o.OpenAPI, `"` + o.OpenAPIHash + `"`, true
		}
	}
	return nil, "", false
}

// indexed is the index of descriptions with those of what others serve.
func indexed(others *discovery.Others, body []byte) []byte {
	var index struct {
		Paths map[string]map[string]string `json:"paths"`
	}
	if json.Unmarshal(body, &index) != nil || index.Paths == nil {
		return body
	}
	for _, o := range *others {
		path := "apis/" + o.String()
		delete(index.Paths, path)
		if o.OpenAPI != nil {
			index.Paths[path] = map[string]string{"serverRelativeURL": openapiV3 + "/" + path + "?hash=" + url.QueryEscape(o.OpenAPIHash)}
		}
	}
	if out, err := json.Marshal(index); err == nil {
		return out
	}
	return body
}

// jsonOnly tells that an Accept header takes JSON.
func jsonOnly(accept string) bool {
	return accept == "" || strings.Contains(accept, "json") || strings.Contains(accept, "*/*")
}
