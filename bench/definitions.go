package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

// models are the types whose schemas the many definitions have, in turn. One
// in twenty holds a pod template, which makes a definition of three versions
// as large as etcd takes; the others are what definitions usually are.
var models = []reflect.Type{
	reflect.TypeFor[corev1.Service](), reflect.TypeFor[corev1.PersistentVolume](), reflect.TypeFor[corev1.PersistentVolumeClaim](),
	reflect.TypeFor[corev1.Node](), reflect.TypeFor[networkingv1.Ingress](), reflect.TypeFor[networkingv1.NetworkPolicy](),
	reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](), reflect.TypeFor[policyv1.PodDisruptionBudget](),
	reflect.TypeFor[storagev1.StorageClass](), reflect.TypeFor[storagev1.CSIDriver](), reflect.TypeFor[appsv1.Deployment](),
	reflect.TypeFor[admissionregistrationv1.ValidatingAdmissionPolicy](), reflect.TypeFor[admissionregistrationv1.ValidatingAdmissionPolicyBinding](),
	reflect.TypeFor[resourcev1.ResourceClaim](), reflect.TypeFor[resourcev1.ResourceSlice](), reflect.TypeFor[flowcontrolv1.FlowSchema](),
	reflect.TypeFor[flowcontrolv1.PriorityLevelConfiguration](), reflect.TypeFor[rbacv1.ClusterRole](),
	reflect.TypeFor[discoveryv1.EndpointSlice](), reflect.TypeFor[corev1.ResourceQuota](),
}

// schemas are the models' schemas as JSON.
var schemas = sync.OnceValues(func() ([]json.RawMessage, error) {
	var all []json.RawMessage
	for _, t := range models {
		schema := crdschema.For(t)
		requireKeys(schema)
		text, err := json.Marshal(schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", t, err)
		}
		all = append(all, text)
	}
	return all, nil
})

// requireKeys makes the keys of keyed lists required where they have no
// default, as definitions must; some Go types leave them out when empty.
func requireKeys(s *apiextensionsv1.JSONSchemaProps) {
	for name, p := range s.Properties {
		requireKeys(&p)
		s.Properties[name] = p
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		requireKeys(s.AdditionalProperties.Schema)
	}
	if s.Items == nil || s.Items.Schema == nil {
		return
	}
	items := s.Items.Schema
	requireKeys(items)
	for _, key := range s.XListMapKeys {
		if items.Properties[key].Default == nil && !slices.Contains(items.Required, key) {
			items.Required = append(items.Required, key)
		}
	}
}

// crowdVersions are the versions of each of the many definitions, the stored
// one first.
var crowdVersions = [...]string{"v1", "v1beta1", "v1alpha1"}

// crowdGroups is how many groups the many definitions are divided into.
const crowdGroups = 50

func crowdGroup(i int) string { return fmt.Sprintf("crowd%d.example.com", i%crowdGroups) }
func crowdName(i int) string  { return fmt.Sprintf("things%d.%s", i, crowdGroup(i)) }
func crowdList(i int, version string) string {
	return fmt.Sprintf("/apis/%s/%s/things%d", crowdGroup(i), version, i)
}

// crowded is the i-th of the many definitions.
func crowded(i int) ([]byte, error) {
	all, err := schemas()
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	var versions []object
	for n, name := range crowdVersions {
		versions = append(versions, object{
			"name": name, "served": true, "storage": n == 0,
			"schema":       object{"openAPIV3Schema": all[i%len(all)]},
			"subresources": object{"status": object{}},
		})
	}
	return json.Marshal(object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": crowdName(i)},
		"spec": object{
			"group": crowdGroup(i), "scope": "Cluster", "versions": versions,
			"names": object{"plural": fmt.Sprintf("things%d", i), "kind": fmt.Sprintf("Thing%d", i)},
		},
	})
}

// defineClients is how many clients install definitions at once.
const defineClients = 4

// define installs the many definitions; an operation ends when all versions of
// one are served.
func define(c config, t *target) (measurement, error) {
	first := t.usage().rss
	m := load{total: c.definitions, clients: defineClients, request: func(i int) error {
		body, err := crowded(i)
		if err != nil {
			return err
		}
		if err := t.ok("POST", crdPath, jsonType, jsonType, body); err != nil {
			return err
		}
		for _, v := range crowdVersions {
			if err := t.wait(crowdList(i, v), 200); err != nil {
				return err
			}
		}
		return nil
	}}.measure(t)
	if m.Errors > 0 {
		return m, fmt.Errorf("%d of %d definitions were not installed", m.Errors, m.Ops)
	}
	took := float64(m.Ops) / m.Rate
	m.Note = fmt.Sprintf("%.1f s for all; %.0f KB of memory each when idle", took, (t.settled()-first)*1000/float64(c.definitions))
	return m, nil
}

// undefine removes the many definitions.
func undefine(c config, t *target) {
	load{total: c.definitions, clients: defineClients, request: func(i int) error {
		_, _, err := t.do("DELETE", crdPath+"/"+crowdName(i), "", "", nil)
		return err
	}}.measure(t)
}

// settled waits until the server's memory has not become less for a while, as
// it does after work, and returns it in MB.
func (t *target) settled() float64 {
	const patience, atMost = 15 * time.Second, 3 * time.Minute
	least, since, start := t.usage().rss, time.Now(), time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for time.Since(since) < patience && time.Since(start) < atMost {
		<-tick.C
		if now := t.usage().rss; now < least-1 {
			least, since = now, time.Now()
		}
	}
	return least
}

// seen changes one of the many definitions and waits until what is at a path
// below which it is published says so. An operation is one change.
func seen(where func(i int) string, accept string) func(config, *target) (measurement, error) {
	return func(c config, t *target) (measurement, error) {
		if err := t.ok("GET", where(0), "", accept, nil); err != nil { // made once, as by clients before
			return measurement{}, err
		}
		changes := min(c.changes, c.definitions)
		return load{total: changes, clients: 1, request: func(i int) error {
			mark := fmt.Sprintf("seen%d", time.Now().UnixNano())
			patch := fmt.Sprintf(`[{"op":"add","path":"/spec/names/categories","value":["%s"]},`+
				`{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":"%s"}]`, mark, mark)
			if err := t.ok("PATCH", crdPath+"/"+crowdName(i), "application/json-patch+json", jsonType, []byte(patch)); err != nil {
				return err
			}
			return t.awaitText(where(i), accept, mark)
		}}.measure(t), nil
	}
}

// awaitText repeats a GET until the reply contains text. As clients do, it
// asks for what it does not have yet.
func (t *target) awaitText(path, accept, text string) error {
	deadline, etag := time.Now().Add(2*time.Minute), ""
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		code, found, next, err := t.contains(path, accept, etag, text)
		switch {
		case err != nil:
			return err
		case found:
			return nil
		case code == 200:
			etag = next
		case time.Now().After(deadline):
			return fmt.Errorf("GET %s: %d, without %s", path, code, text)
		}
		<-tick.C
	}
}

const (
	aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	protobufV2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

// crowd are the steps about many definitions. They are not run unless they are
// named, since they change what the others find.
var crowd = []step{
	{"define", "a definition of three versions installed and served", define},
	{"discovered", "a changed definition in discovery", seen(func(int) string { return "/apis" }, aggregated)},
	{"published3", "a changed definition in OpenAPI version 3", seen(func(i int) string { return "/openapi/v3/apis/" + crowdGroup(i) + "/v1" }, jsonType)},
	{"published2", "a changed definition in OpenAPI version 2", seen(func(int) string { return "/openapi/v2" }, jsonType)},
	{"published2pb", "the same, as protobuf", seen(func(int) string { return "/openapi/v2" }, protobufV2)},
	{"restart", "the server started again until it is ready and serves the last definition", restart},
}

func crowdSteps() string { return joined(crowd) }

func joined(steps []step) string {
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	return strings.Join(names, ",")
}
