package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/authn"
)

// What differs between built-in kinds in how they are written and deleted, as
// kube-apiserver 1.36 replied to the same requests: some need a resourceVersion
// with every update, and of some whoever deletes one is told what it was.
func TestKindsDifferInUpdatesAndDeletions_DEL(t *testing.T) {
	const pod = `{"containers":[{"name":"a","image":"i"}]}`
	const core, resources, storage = "/api/v1/", "/apis/resource.k8s.io/v1/", "/apis/storage.k8s.io/v1/"
	const in = "namespaces/default/"
	w := newWorld(t)
	for _, c := range []struct {
		collection, kind, fields string
		returned, conditional    bool
	}{
		{core + in + "serviceaccounts", "ServiceAccount", ``, true, false},
		{core + in + "podtemplates", "PodTemplate", `"template":{"spec":` + pod + `}`, true, false},
		{core + in + "resourcequotas", "ResourceQuota", ``, true, false},
		{core + in + "persistentvolumeclaims", "PersistentVolumeClaim", `"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}`, true, false},
		{core + "persistentvolumes", "PersistentVolume", `"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/x"}}`, true, false},
		{core + in + "pods", "Pod", `"spec":` + pod, true, false},
		{core + in + "services", "Service", `"spec":{"clusterIP":"None","clusterIPs":["None"],"ports":[{"port":80}]}`, true, false},
		{resources + "deviceclasses", "DeviceClass", `"spec":{}`, true, false},
		{resources + in + "resourceclaims", "ResourceClaim", `"spec":{}`, true, false},
		{resources + in + "resourceclaimtemplates", "ResourceClaimTemplate", `"spec":{"spec":{}}`, true, false},
		{resources + "resourceslices", "ResourceSlice", `"spec":{"driver":"d.example.com","nodeName":"n","pool":{"name":"p","resourceSliceCount":1,"generation":1}}`, true, false},
		{storage + "csidrivers", "CSIDriver", `"spec":{}`, true, true},
		{storage + "csinodes", "CSINode", `"spec":{"drivers":null}`, true, true},
		{storage + "storageclasses", "StorageClass", `"provisioner":"p"`, true, false},
		{storage + "volumeattachments", "VolumeAttachment", `"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"pv"}}`, true, true},
		{storage + "volumeattributesclasses", "VolumeAttributesClass", `"driverName":"d","parameters":{"a":"b"}`, true, false},
		{storage + in + "csistoragecapacities", "CSIStorageCapacity", `"storageClassName":"s"`, false, true},
		{"/apis/node.k8s.io/v1/runtimeclasses", "RuntimeClass", `"handler":"h"`, false, true},
		{"/apis/policy/v1/" + in + "poddisruptionbudgets", "PodDisruptionBudget", `"spec":{}`, false, true},
		{"/apis/coordination.k8s.io/v1/" + in + "leases", "Lease", ``, false, true},
		{"/apis/apps/v1/" + in + "deployments", "Deployment", `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":` + pod + `}}`, false, false},
		{core + in + "configmaps", "ConfigMap", ``, false, false},
		{core + in + "secrets", "Secret", ``, false, false},
		{core + in + "endpoints", "Endpoints", ``, false, false},
	} {
		body := strings.TrimSuffix(fmt.Sprintf(`{"kind":%q,"metadata":{"name":"x"},%s`, c.kind, c.fields), ",") + "}"
		created := w.do("POST", c.collection, body).want(201, "")
		if warns := created.header("Warning"); (warns != "") != (c.kind == "Endpoints") || c.kind == "Endpoints" && warns != `299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"` {
			t.Errorf("%s: warning %q", c.kind, warns)
		}
		if c.conditional {
			w.do("PUT", c.collection+"/x", body).want(422, "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
		} else {
			w.do("PUT", c.collection+"/x", body).want(200, "")
		}
		kind := "Status"
		if c.returned {
			kind = c.kind
		}
		if got := w.do("DELETE", c.collection+"/x?gracePeriodSeconds=0", "").want(200, "").tree(); got["kind"] != kind {
			t.Errorf("who deletes a %s gets a %v, want a %s", c.kind, got["kind"], kind)
		}
	}
}

// A node of which nobody knows drivers has none to show.
func TestANodeWithoutDriversHasATable(t *testing.T) {
	w := newWorld(t)
	const nodes = "/apis/storage.k8s.io/v1/csinodes"
	for name, drivers := range map[string]string{"null": `{"drivers":null}`, "none": `{"drivers":[]}`, "two": `{"drivers":[{"name":"a","nodeID":"a"},{"name":"b","nodeID":"b"}]}`} {
		w.do("POST", nodes, `{"metadata":{"name":"`+name+`"},"spec":`+drivers+`}`).want(201, "")
		want := `"cells":["` + name + `",0,`
		if name == "two" {
			want = `"cells":["two",2,`
		}
		w.do("GET", nodes+"/"+name, "", metaForm+"Table").want(200, want)
	}
}

// What a strategic patch says of kind and version changes neither.
func TestAStrategicPatchChangesNoKind(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, `{"metadata":{"name":"x"}}`).want(201, "")
	const strategic = "Content-Type: application/strategic-merge-patch+json"
	for _, patch := range []string{`{"kind":"Secret"}`, `{"apiVersion":"v2"}`, `{"kind":null}`, `{"kind":"Secret","apiVersion":"v2","data":{"a":"b"}}`} {
		got := w.do("PATCH", configMaps+"/x", patch, strategic).want(200, "").tree()
		if got["kind"] != "ConfigMap" || got["apiVersion"] != "v1" {
			t.Errorf("%s: %v %v", patch, got["apiVersion"], got["kind"])
		}
	}
	w.do("GET", configMaps+"/x", "").want(200, `"data":{"a":"b"}`)
	w.do("PATCH", configMaps+"/x", `[1]`, strategic).want(400, `"message":"json: cannot unmarshal array into Go value of type map[string]interface {}"`)
	w.do("PATCH", configMaps+"/x", `{"data":{"a":1}}`, strategic).want(422, `patch: Invalid value: \"map[data:map[a:1]]\": cannot convert int64 to string`)
}

// A question has metadata to show, but no row.
func TestQuestionsHaveNoTable_MT17(t *testing.T) {
	w := newWorld(t, func(c *Setup) {
		c.Reviews = map[schema.GroupResource]Review{
			{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: func(context.Context, *authn.User, authn.Notes, map[string]any) error { return nil },
		}
	})
	const path, review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`
	w.do("POST", path, review, metaForm+"Table").want(406, "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf")
	w.do("POST", path, review, metaForm+"Table,application/json").want(201, `"kind":"SelfSubjectAccessReview"`)
	w.do("POST", path, review, metaForm+"PartialObjectMetadata").want(201, `"kind":"PartialObjectMetadata"`)
}
