package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	crdPath       = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	namespacePath = "/api/v1/namespaces"
	tableAccept   = "application/json;as=Table;g=meta.k8s.io;v=v1"
	metaAccept    = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	metaList      = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// object is JSON with fields by path.
type object = harness.Object

// unique is a suffix that keeps tests apart on one server.
func unique() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// parse reads a JSON object that the test itself wrote.
func parse(t testing.TB, text string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// namespace creates a namespace of the test's own.
func namespace(t testing.TB, api *harness.API) string {
	t.Helper()
	name := "e2e-" + unique()
	api.Post(namespacePath, object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}).Want(201)
	t.Cleanup(func() { _, _ = api.Try("DELETE", namespacePath+"/"+name, nil) })
	return name
}

// cronTabs is a custom resource and a namespace of the test's own, on one
// server.
type cronTabs struct {
	t     testing.TB
	s     *harness.Server
	api   *harness.API
	group string
	ns    string
}

// newCronTabs creates the CronTab definition in a group of its own and waits
// until it is served. edit, if not nil, changes the definition first.
func newCronTabs(t testing.TB, s *harness.Server, edit func(crd object)) *cronTabs {
	t.Helper()
	c := &cronTabs{t: t, s: s, api: s.API(t), group: "g" + unique() + ".example.com"}
	c.ns = namespace(t, c.api)
	crd := parse(t, strings.NewReplacer("GROUP", c.group, "SCHEMA", cronTabSchema).Replace(cronTabCRD))
	if edit != nil {
		edit(crd)
	}
	c.install(crd)
	return c
}

// run runs a sub-test with the same custom resource and namespace.
func (c *cronTabs) run(name string, f func(t *testing.T, c *cronTabs)) {
	c.t.(*testing.T).Run(name, func(t *testing.T) {
		own := *c
		own.t, own.api = t, c.s.API(t)
		f(t, &own)
	})
}

// install creates the definition and waits until every served version is
// there.
func (c *cronTabs) install(crd object) {
	c.t.Helper()
	c.api.Post(crdPath, crd).Want(201)
	c.t.Cleanup(func() { _, _ = c.api.Try("DELETE", c.crdPath(), nil) })
	for _, v := range crd.At("spec.versions").([]any) {
		if v := object(v.(map[string]any)); v["served"] == true {
			c.awaitServed(v.Str("name"))
		}
	}
}

// awaitServed waits until a version of the custom resource can be listed.
func (c *cronTabs) awaitServed(version string) {
	c.t.Helper()
	c.api.Eventually(c.list(version), func(r *harness.Reply) bool { return r.Code == 200 })
}

func (c *cronTabs) crdPath() string { return crdPath + "/crontabs." + c.group }

// all is the collection in every namespace, list the one in the test's.
func (c *cronTabs) all(version string) string {
	return "/apis/" + c.group + "/" + version + "/crontabs"
}

func (c *cronTabs) list(version string) string {
	return "/apis/" + c.group + "/" + version + "/namespaces/" + c.ns + "/crontabs"
}

func (c *cronTabs) path(version, name string) string { return c.list(version) + "/" + name }

// storageKey is where etcd keeps an object.
func (c *cronTabs) storageKey(name string) string {
	return "/registry/" + c.group + "/crontabs/" + c.ns + "/" + name
}

// object makes a CronTab; spec is JSON.
func (c *cronTabs) object(version, name, spec string) object {
	c.t.Helper()
	return object{
		"apiVersion": c.group + "/" + version, "kind": "CronTab",
		"metadata": map[string]any{"name": name, "namespace": c.ns}, "spec": map[string]any(parse(c.t, spec)),
	}
}

// create creates a CronTab at v1 and returns what the server made of it.
func (c *cronTabs) create(name string) object {
	c.t.Helper()
	return c.api.Post(c.list("v1"), c.object("v1", name, `{"host":"`+name+`","port":"80"}`)).Want(201).Object()
}

// createLabelled creates a CronTab with labels (JSON).
func (c *cronTabs) createLabelled(name, labels string) object {
	c.t.Helper()
	o := c.object("v1", name, `{"host":"h"}`)
	o.Set("metadata.labels", map[string]any(parse(c.t, labels)))
	return c.api.Post(c.list("v1"), o).Want(201).Object()
}

// touch changes an object and returns it.
func (c *cronTabs) touch(name, port string) object {
	c.t.Helper()
	return c.api.Merge(c.path("v1", name), `{"spec":{"port":"`+port+`"}}`).Want(200).Object()
}

// rv is the collection's current resourceVersion.
func (c *cronTabs) rv() string {
	c.t.Helper()
	return c.api.Get(c.list("v1")).Want(200).Object().RV()
}

// watch opens a watch of the test's namespace at v1.
func (c *cronTabs) watch(query string) *harness.Stream {
	c.t.Helper()
	return c.api.Watch(c.list("v1") + "?watch=1&" + query)
}

// configMap makes a ConfigMap; data is JSON.
func configMap(t testing.TB, ns, name, data string) object {
	t.Helper()
	return object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": ns},
		"data": map[string]any(parse(t, data)),
	}
}

func configMaps(ns string) string { return fmt.Sprintf("/api/v1/namespaces/%s/configmaps", ns) }

// cronTabCRD is the definition most tests use: v1 is stored, v1beta1 served,
// and nothing is converted.
const cronTabCRD = `{
"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
"metadata": {"name": "crontabs.GROUP"},
"spec": {"group": "GROUP", "scope": "Namespaced",
 "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "shortNames": ["ct"], "categories": ["all"]},
 "conversion": {"strategy": "None"},
 "versions": [
  {"name": "v1beta1", "served": true, "storage": false, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": SCHEMA}},
  {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": SCHEMA},
   "additionalPrinterColumns": [
    {"name": "Host", "type": "string", "jsonPath": ".spec.host", "description": "where it runs"},
    {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas", "priority": 1}]}
 ]}}`

const cronTabSchema = `{"type": "object", "description": "A CronTab runs something now and then.", "properties": {
 "hostPort": {"type": "string"}, "host": {"type": "string"}, "port": {"type": "string"},
 "spec": {"type": "object", "properties": {
  "host": {"type": "string", "description": "the host to run on"}, "port": {"type": "string"}, "hostPort": {"type": "string"},
  "replicas": {"type": "integer", "minimum": 0}, "suspend": {"type": "boolean", "default": false},
  "tags": {"type": "array", "items": {"type": "string"}},
  "env": {"type": "object", "additionalProperties": {"type": "string"}}}},
 "status": {"type": "object", "properties": {"phase": {"type": "string"}, "active": {"type": "integer"}}}}}`
