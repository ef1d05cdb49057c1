package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"
)

// server is one of the two servers.
type server struct {
	url, token string
	client     *http.Client
	// plurals are by apiVersion and kind; a plural of a cluster-scoped kind
	// begins with a slash.
	plurals map[string]string
}

// namespace is where everything is made.
const namespace = "kinds-comparison"

func newServer(url, token string) *server {
	return &server{
		url: url, token: token, plurals: map[string]string{},
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
}

func (s *server) do(method, path, accept, media string, body map[string]any) (int, map[string]any) {
	var in io.Reader
	if body != nil {
		data, err := encode(body, media)
		if err != nil {
			log.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	r, err := http.NewRequest(method, s.url+path, in)
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", media)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&out) // what is no JSON has no fields
	return resp.StatusCode, out
}

// dryRun leaves nothing behind, though everything is done.
const dryRun = "?dryRun=All"

// all asks what would become of the objects, one after the other.
func (s *server) all(manifests []record) []outcome {
	s.do("POST", "/api/v1/namespaces", "", inJSON, map[string]any{"metadata": map[string]any{"name": namespace}})
	out := make([]outcome, len(manifests))
	for i, m := range manifests {
		out[i] = s.one(m.Manifest, m.media)
	}
	return out
}

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

func (s *server) one(manifest map[string]any, media string) outcome {
	path := s.collection(manifest)
	if path == "" {
		return outcome{}
	}
	body := map[string]any{}
	for k, v := range manifest {
		body[k] = v
	}
	about := map[string]any{}
	for k, v := range meta(manifest) {
		if k != "namespace" && k != "resourceVersion" && k != "uid" {
			about[k] = v
		}
	}
	body["metadata"] = about
	code, object := s.do("POST", path+dryRun, "", media, body)
	if code >= 300 {
		message, _ := object["message"].(string)
		return outcome{Code: code, Message: message, causes: causes(object)}
	}
	_, table := s.do("POST", path+dryRun, asTable, media, body)
	strip(object)
	out := outcome{Code: code, Object: object, Columns: columns(table)}
	if rows, ok := table["rows"].([]any); ok && len(rows) == 1 {
		row, _ := rows[0].(map[string]any)
		out.Cells = masked(row["cells"])
	}
	return out
}

// collection is the path of a manifest's collection; "" when the kind is not
// served.
func (s *server) collection(m map[string]any) string {
	api, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	root := "/apis/" + api
	if !strings.Contains(api, "/") {
		root = "/api/" + api
	}
	plural, known := s.plurals[api+" "+kind]
	if !known {
		_, list := s.do("GET", root, "", inJSON, nil)
		resources, _ := list["resources"].([]any)
		for _, r := range resources {
			r, _ := r.(map[string]any)
			name, _ := r["name"].(string)
			if r["kind"] != kind || strings.Contains(name, "/") {
				continue
			}
			if plural = name; r["namespaced"] == false {
				plural = "/" + name
			}
		}
		s.plurals[api+" "+kind] = plural
	}
	switch {
	case plural == "":
		return ""
	case plural[0] == '/':
		return root + plural
	}
	return root + "/namespaces/" + namespace + "/" + plural
}

func meta(m map[string]any) map[string]any {
	out, _ := m["metadata"].(map[string]any)
	return out
}

// strip takes away what no two servers have in common.
func strip(object map[string]any) {
	about := meta(object)
	uid, _ := about["uid"].(string)
	for _, k := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace"} {
		delete(about, k)
	}
	if about["generateName"] != nil {
		delete(about, "name")
	}
	mask(object, uid)
}

// mask replaces a uid, wherever it stands, and the addresses and ports that
// services get by chance.
func mask(v any, uid string) any {
	switch x := v.(type) {
	case map[string]any:
		for k, item := range x {
			if k == "nodePort" || k == "healthCheckNodePort" || k == "lastPhaseTransitionTime" {
				x[k] = "SOME"
				continue
			}
			x[k] = mask(item, uid)
		}
	case []any:
		for i, item := range x {
			x[i] = mask(item, uid)
		}
	case string:
		if x == uid && uid != "" {
			return "UID"
		}
		if ages.MatchString(x) && strings.HasPrefix(x, "10.0.0.") {
			return "ADDRESS"
		}
	}
	return v
}

// ages are what differs from run to run: ages, times, uids and addresses.
var ages = regexp.MustCompile(`^([0-9]+(ms|s|m)|<unknown>|10\.0\.0\.[0-9]+|20[0-9-]+T[0-9:]+Z)$`)

var uids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`)

// masked are cells without such.
func masked(cells any) any {
	list, _ := cells.([]any)
	for i, c := range list {
		if text, ok := c.(string); ok {
			list[i] = uids.ReplaceAllString(ages.ReplaceAllString(text, "AGE"), "UID")
		}
	}
	return cells
}

// columns are the definitions of a table's columns.
func columns(table map[string]any) any {
	list, _ := table["columnDefinitions"].([]any)
	for _, c := range list {
		c, _ := c.(map[string]any)
		delete(c, "description") // which differs between releases
	}
	return list
}
