package shapes

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/wasmgate/wasmgate/sdk"
)

// change is an object at two versions, as the notes on the removal of the old one
// describe it.
type change struct {
	name, kind, from, to string
	// old and now are what follows the object's metadata.
	old, now string
	// back is what becomes of now at the old version, where that is not old.
	back string
}

var changes = []change{
	{name: "a backend that was renamed, and ports by their type", kind: "Ingress", from: "v1beta1", to: "v1",
		old: `"spec":{"backend":{"serviceName":"a","servicePort":80},"rules":[{"host":"h","http":{"paths":[{"path":"/x","backend":{"serviceName":"b","servicePort":"web"},"pathType":"Prefix"},{"backend":{"resource":{"name":"r"}},"pathType":"Exact"}]}}]}`,
		now: `"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":80}}},"rules":[{"host":"h","http":{"paths":[{"path":"/x","backend":{"service":{"name":"b","port":{"name":"web"}}},"pathType":"Prefix"},{"backend":{"resource":{"name":"r"}},"pathType":"Exact"}]}}]}`},
	{name: "a field that became required", kind: "Ingress", from: "v1beta1", to: "v1",
		old:  `"spec":{"rules":[{"http":{"paths":[{"path":"/"}]}}]}`,
		now:  `"spec":{"rules":[{"http":{"paths":[{"path":"/","pathType":"ImplementationSpecific"}]}}]}`,
		back: `"spec":{"rules":[{"http":{"paths":[{"path":"/","pathType":"ImplementationSpecific"}]}}]}`},
	{name: "targets below one object", kind: "HorizontalPodAutoscaler", from: "v2beta1", to: "v2",
		old: `"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":80}},{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},{"type":"Object","object":{"a":1}}]}`,
		now: `"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}},{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}},{"type":"Object","object":{"a":1}}]}`},
	{name: "fields that should no longer be filled", kind: "Event", from: "v1beta1", to: "v1",
		old: `"involvedObject":{"name":"p"},"message":"m","source":{"component":"c"},"count":3,"firstTimestamp":"2021-01-01T00:00:00Z","lastTimestamp":null,"reportingComponent":"c","type":"Normal"`,
		now: `"regarding":{"name":"p"},"note":"m","deprecatedSource":{"component":"c"},"deprecatedCount":3,"deprecatedFirstTimestamp":"2021-01-01T00:00:00Z","deprecatedLastTimestamp":null,"reportingController":"c","type":"Normal"`},
	{name: "a map of which fields were made", kind: "EndpointSlice", from: "v1beta1", to: "v1",
		old: `"endpoints":[{"addresses":["10.0.0.1"],"topology":{"topology.kubernetes.io/zone":"z","kubernetes.io/hostname":"n","rack":"r"}},{"addresses":["10.0.0.2"],"topology":{"topology.kubernetes.io/zone":"z"}},{"addresses":["10.0.0.3"]}]`,
		now: `"endpoints":[{"addresses":["10.0.0.1"],"zone":"z","nodeName":"n","deprecatedTopology":{"rack":"r"}},{"addresses":["10.0.0.2"],"zone":"z"},{"addresses":["10.0.0.3"]}]`},
	{name: "an empty selector that selected nothing", kind: "PodDisruptionBudget", from: "v1beta1", to: "v1",
		old: `"spec":{"minAvailable":1,"selector":{}}`,
		now: `"spec":{"minAvailable":1,"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"}]}}`},
	{name: "an empty selector that selects all", kind: "PodDisruptionBudget", from: "v1beta1", to: "v1",
		old: `"spec":{"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"DoesNotExist"}]}}`,
		now: `"spec":{"selector":{}}`},
	{name: "no selector", kind: "PodDisruptionBudget", from: "v1beta1", to: "v1", old: `"spec":{"minAvailable":1}`, now: `"spec":{"minAvailable":1}`},
	{name: "0 that meant the default", kind: "PriorityLevelConfiguration", from: "v1beta3", to: "v1",
		old:  `"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0}}`,
		now:  `"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30}}`,
		back: `"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30}}`},
	{name: "defaults that changed, and a selector that became required", kind: "Deployment", from: "v1beta1", to: "v1",
		old:  `"spec":{"template":{"metadata":{"labels":{"app":"a"}}},"rollbackTo":{"revision":7}}`,
		now:  `"spec":{"template":{"metadata":{"labels":{"app":"a"}}},"revisionHistoryLimit":2,"progressDeadlineSeconds":600,"selector":{"matchLabels":{"app":"a"}}},"metadata":{"name":"n","annotations":{"deprecated.deployment.rollback.revision":"7"}}`,
		back: `"spec":{"template":{"metadata":{"labels":{"app":"a"}}},"rollbackTo":{"revision":7},"revisionHistoryLimit":2,"progressDeadlineSeconds":600,"selector":{"matchLabels":{"app":"a"}}}`},
	{name: "fields that became required, at any depth", kind: "CertificateSigningRequest", from: "v1beta1", to: "v1",
		old:  `"spec":{"usages":["client auth"]},"status":{"conditions":[{"type":"Approved"},{"type":"Denied","status":"False"}]}`,
		now:  `"spec":{"usages":["client auth"],"signerName":"kubernetes.io/legacy-unknown"},"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Denied","status":"False"}]}`,
		back: `"spec":{"usages":["client auth"],"signerName":"kubernetes.io/legacy-unknown"},"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Denied","status":"False"}]}`},
}

// at is an object of a change at a version; what the change says of metadata counts.
func (c change) at(version, rest string) map[string]any {
	out := map[string]any{}
	text := `{"apiVersion":"example.com/` + version + `","kind":"` + c.kind + `","metadata":{"name":"n"},` + rest + `}`
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic(text)
	}
	return out
}

// Each change of Kubernetes' own kinds is there and back, and loses nothing.
func TestChanges_MIG03(t *testing.T) {
	convert := func(t *testing.T, obj map[string]any, version string) map[string]any {
		t.Helper()
		text, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		if text, err = sdk.Apply(text, "example.com/"+version); err != nil {
			t.Fatal(err)
		}
		out := map[string]any{}
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			now := convert(t, c.at(c.from, c.old), c.to)
			if want := c.at(c.to, c.now); !reflect.DeepEqual(now, want) {
				t.Errorf("got  %v\nwant %v", now, want)
			}
			back := c.back
			if back == "" {
				back = c.old
			}
			if got, want := convert(t, now, c.from), c.at(c.from, back); !reflect.DeepEqual(got, want) {
				t.Errorf("back: got  %v\nwant %v", got, want)
			}
		})
	}
	t.Run("0 that is meant", func(t *testing.T) {
		c := change{kind: "PriorityLevelConfiguration"}
		obj := c.at("v1", `"spec":{"limited":{"nominalConcurrencyShares":0}}`)
		old := convert(t, obj, "v1beta3")
		if got := convert(t, old, "v1"); !reflect.DeepEqual(got, obj) || reflect.DeepEqual(old["metadata"], obj["metadata"]) {
			t.Errorf("%v, by %v", got, old)
		}
	})
}
