package extend_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
)

const labelled = `"template":{"metadata":{"labels":{"a":"b"}}`

// What kube-apiservers of long ago stored is read as an object of today, with the defaults
// that there were.
func TestWhatWasStoredLongAgo(t *testing.T) {
	apps := func(kind string) schema.GroupResource { return schema.GroupResource{Group: "apps", Resource: kind} }
	devices := func(kind string) schema.GroupResource {
		return schema.GroupResource{Group: "resource.k8s.io", Resource: kind}
	}
	levels := schema.GroupResource{Group: "flowcontrol.apiserver.k8s.io", Resource: "prioritylevelconfigurations"}
	hooks := func(kind string) schema.GroupResource {
		return schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: kind + "webhookconfigurations"}
	}
	for _, c := range []struct {
		of                  schema.GroupResource
		apiVersion, was, is string
	}{
		{apps("deployments"), "apps/v1beta1", `{"metadata":{},"spec":{` + labelled + `}}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":null}},"strategy":{},"revisionHistoryLimit":2},"status":{}}`},
		{apps("deployments"), "apps/v1beta1", `{"metadata":{"labels":{"c":"d"}},"spec":{"revisionHistoryLimit":3,"selector":{"matchLabels":{"e":"f"}},` + labelled + `},"rollbackTo":{"revision":7}}}`, `{"metadata":{"labels":{"c":"d"},"annotations":{"deprecated.deployment.rollback.to":"7"}},"spec":{"selector":{"matchLabels":{"e":"f"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":null}},"strategy":{},"revisionHistoryLimit":3},"status":{}}`},
		{apps("deployments"), "apps/v1beta1", `{"metadata":{"annotations":{"g":"h"}},"spec":{"rollbackTo":{}}}`, `{"metadata":{"annotations":{"deprecated.deployment.rollback.to":"0","g":"h"}},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{},"revisionHistoryLimit":2},"status":{}}`},
		{apps("deployments"), "extensions/v1beta1", `{"metadata":{},"spec":{` + labelled + `},"rollbackTo":{"revision":7}}}`, `{"metadata":{"labels":{"a":"b"},"annotations":{"deprecated.deployment.rollback.to":"7"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":null}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":1}},"revisionHistoryLimit":2147483647,"progressDeadlineSeconds":2147483647},"status":{}}`},
		{apps("deployments"), "extensions/v1beta1", `{"metadata":{},"spec":{"strategy":{"type":"Recreate"},"progressDeadlineSeconds":5,"revisionHistoryLimit":3}}`, `{"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{"type":"Recreate"},"revisionHistoryLimit":3,"progressDeadlineSeconds":5},"status":{}}`},
		{apps("deployments"), "extensions/v1beta1", `{"metadata":{},"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"5%"}}}}`, `{"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":"5%"}},"revisionHistoryLimit":2147483647,"progressDeadlineSeconds":2147483647},"status":{}}`},
		{apps("replicasets"), "extensions/v1beta1", `{"metadata":{},"spec":{` + labelled + `}}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":null}}},"status":{"replicas":0}}`},
		{apps("daemonsets"), "extensions/v1beta1", `{"metadata":{},"spec":{"templateGeneration":7,` + labelled + `}}}`, `{"metadata":{"labels":{"a":"b"},"annotations":{"deprecated.daemonset.template.generation":"7"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":null}},"updateStrategy":{"type":"OnDelete"}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}}`},
		{apps("daemonsets"), "extensions/v1beta1", `{"metadata":{},"spec":{"updateStrategy":{"type":"RollingUpdate"}}}`, `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"0"}},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{"type":"RollingUpdate"}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}}`},
		{apps("statefulsets"), "apps/v1beta1", `{"metadata":{},"spec":{"serviceName":"s",` + labelled + `}}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":null}},"serviceName":"s","updateStrategy":{"type":"OnDelete"}},"status":{"replicas":0,"availableReplicas":0}}`},
		{levels, "flowcontrol.apiserver.k8s.io/v1beta2", `{"metadata":{},"spec":{"type":"Limited","limited":{"assuredConcurrencyShares":5}}}`, `{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":5,"limitResponse":{"type":""}}},"status":{}}`},
		{levels, "flowcontrol.apiserver.k8s.io/v1beta1", `{"metadata":{},"spec":{"type":"Limited","limited":{}}}`, `{"metadata":{},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30,"limitResponse":{"type":""}}},"status":{}}`},
		{levels, "flowcontrol.apiserver.k8s.io/v1beta1", `{"metadata":{},"spec":{"type":"Exempt"}}`, `{"metadata":{},"spec":{"type":"Exempt"},"status":{}}`},
		{devices("deviceclasses"), "resource.k8s.io/v1beta1", `{"metadata":{},"spec":{"selectors":[{"cel":{"expression":"true"}}]}}`, `{"metadata":{},"spec":{"selectors":[{"cel":{"expression":"true"}}]}}`},
		{devices("resourceclaims"), "resource.k8s.io/v1beta1", `{"metadata":{},"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"c","count":2},{"name":"s","firstAvailable":[{"name":"t","deviceClassName":"d"}]},{"name":"u","count":3}]}}}`, `{"metadata":{},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","count":2}},{"name":"s","firstAvailable":[{"name":"t","deviceClassName":"d"}]},{"name":"u","exactly":{"deviceClassName":"","count":3}}]}},"status":{}}`},
		{devices("resourceclaimtemplates"), "resource.k8s.io/v1beta1", `{"metadata":{},"spec":{"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"c"}]}}}}`, `{"metadata":{},"spec":{"metadata":{},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}}`},
		{devices("resourceslices"), "resource.k8s.io/v1beta1", `{"metadata":{},"spec":{"driver":"d","devices":[{"name":"e","basic":{"attributes":{"a":{"string":"x"}}}},{"name":"f"}]}}`, `{"metadata":{},"spec":{"driver":"d","pool":{"name":"","generation":0,"resourceSliceCount":0},"devices":[{"name":"e","attributes":{"a":{"string":"x"}}},{"name":"f"}]}}`},
		{hooks("mutating"), "admissionregistration.k8s.io/v1beta1", `{"metadata":{},"webhooks":[{"name":"w","clientConfig":{}}]}`, `{"metadata":{},"webhooks":[{"name":"w","clientConfig":{},"failurePolicy":"Ignore","matchPolicy":"Exact","sideEffects":"Unknown","timeoutSeconds":30,"admissionReviewVersions":["v1beta1"]}]}`},
		{hooks("validating"), "admissionregistration.k8s.io/v1beta1", `{"metadata":{},"webhooks":[{"name":"w","clientConfig":{},"failurePolicy":"Fail","matchPolicy":"Equivalent","timeoutSeconds":5,"sideEffects":"None","admissionReviewVersions":["v1"]}]}`, `{"metadata":{},"webhooks":[{"name":"w","clientConfig":{},"failurePolicy":"Fail","matchPolicy":"Equivalent","sideEffects":"None","timeoutSeconds":5,"admissionReviewVersions":["v1"]}]}`},
	} {
		elder := extend.OlderOf(c.of)[c.apiVersion]
		in := elder.Fresh()
		if err := json.Unmarshal([]byte(c.was), in); err != nil {
			t.Fatal(err)
		}
		out, err := elder.Renew(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(out); string(got) != c.is || err != nil {
			t.Errorf("%s of %s %s:\n%s, %v\nwant %s", c.of, c.apiVersion, c.was, got, err, c.is)
		}
	}
}
