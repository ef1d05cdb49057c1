package extend_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
)

// What may become of stored objects, and through which subresource. The messages
// are kube-apiserver 1.36's.
func TestWhatUpdatesMayChange_UPD02(t *testing.T) {
	const (
		service     = `{"metadata":{"name":"x"},"spec":{"ports":[{"port":1}],"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`
		plain       = `{"metadata":{"name":"x"},"spec":{"ports":[{"port":1}],"type":"ClusterIP"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`
		pod         = `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","terminationMessagePolicy":"File","imagePullPolicy":"Always","resources":{"claims":[{"name":"gpu"}],"limits":{"example.com/a":"1"}}}],"resourceClaims":[{"name":"gpu","resourceClaimName":"g"}],"restartPolicy":"Always","dnsPolicy":"ClusterFirst"},"status":{"containerStatuses":[{"name":"c"`
		twoFamilies = `spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`
		annotation  = `"service.beta.kubernetes.io/load-balancer-source-ranges":`
		secret      = `,"controllerExpandSecretRef":{"namespace":"n","name":`
		harmful     = `webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`
	)
	immovable := func(key, value string) string {
		return `spec.nodeAffinity: Invalid value: {"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"` + key + `","operator":"In","values":["` + value + `"]}]}]}}: field is immutable, except for updating from beta label to GA`
	}
	cidrs := func(list string) string { return `{"metadata":{"name":"x"},"spec":{"cidrs":[` + list + `]}}` }
	ranges := func(annotation, list string) string {
		return `{"metadata":{"name":"x","annotations":{` + annotation + `}},"spec":{"ports":[{"port":1}],"type":"LoadBalancer","loadBalancerSourceRanges":[` + list + `]}}`
	}
	volume := func(source, affinity string) string {
		return `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"` + source + `}` + affinity + `}}`
	}
	near := func(key, value string) string {
		return `,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"` + key + `","operator":"In","values":["` + value + `"]}]}]}}`
	}
	hook := func(effects, more string) string {
		return `{"metadata":{"name":"x"},"webhooks":[{"name":"a.example.com","clientConfig":{"url":"https://a.example.com"},"admissionReviewVersions":["v1"],"sideEffects":"` + effects + `"` + more + `}]}`
	}
	defs := builtintest.Definitions(t)
	for name, tc := range map[string]struct{ kind, sub, old, body, want string }{
		"side effects of one that had none":        {"validatingwebhookconfiguration", "", hook("None", ``), hook("Some", ``), harmful},
		"side effects of long ago":                 {"validatingwebhookconfiguration", "", hook("Unknown", ``), hook("Some", `,"timeoutSeconds":5`), ``},
		"service with an ingress, of another type": {"service", "", service, plain, ``},
		"ingress of a service that has none":       {"service", "status", plain, plain, "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"},
		"health of a claim": {"pod", "status", pod + `}]}}`,
			pod + `,"allocatedResourcesStatus":[{"name":"claim:gpu","resources":[{"resourceID":"a","health":"Healthy"}]},{"name":"example.com/a"}]}]}}`, ``},
		"health of what the container does not have": {"pod", "status", pod + `}]}}`,
			pod + `,"allocatedResourcesStatus":[{"name":"claim:gpu/a"},{"name":"example.com/b"}]}]}}`,
			`[status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "claim:gpu/a": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty, status.containerStatuses[0].allocatedResourcesStatus[1].name: Invalid value: "example.com/b": must match one of the container's resource requests]`},
		"health in a container that is not there": {"pod", "status", pod + `}]}}`,
			pod + `},{"name":"d","allocatedResourcesStatus":[{"name":"claim:gpu/a"}]}]}}`, ``},
		"health of nothing": {"pod", "status", pod + `}]}}`,
			pod + `,"allocatedResourcesStatus":[{"resources":[{"resourceID":"a","health":"Healthy"}]}]}]}}`, `status.containerStatuses[0].allocatedResourcesStatus[0].name: Required value`},
		"second range of the other family": {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.0.0.0/16","2001:db8::/64"`), ``},
		"second range of the same family":  {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.0.0.0/16","10.1.0.0/16"`), twoFamilies},
		"another first range":              {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.1.0.0/16","2001:db8::/64"`), `spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable`},
		"another range":                    {"servicecidr", "", cidrs(`"10.0.0.0/16"`), cidrs(`"10.1.0.0/16"`), `spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable`},
		"another second range":             {"servicecidr", "", cidrs(`"10.0.0.0/16","2001:db8::/64"`), cidrs(`"10.0.0.0/16","2001:db9::/64"`), `spec.cidrs[1]: Invalid value: "2001:db9::/64": field is immutable`},
		"a range less":                     {"servicecidr", "", cidrs(`"10.0.0.0/16","2001:db8::/64"`), cidrs(`"10.0.0.0/16"`), `spec.cidrs: Invalid value: ["10.0.0.0/16"]: field is immutable`},
		"ranges that were let be once":     {"service", "", ranges(``, `"10.0.0.1/8"," 010.0.0.0/8"`), ranges(``, `"010.0.0.0/8 "`), ``},
		"another that is no range":         {"service", "", ranges(``, `"10.0.0.1/8"`), ranges(``, `"10.0.0.2/8"`), `spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.2/8": must not have bits set beyond the prefix length`},
		"annotation that was let be once":  {"service", "", ranges(annotation+`"x"`, ``), ranges(annotation+`"x"`, ``), ``},
		"another annotation":               {"service", "", ranges(annotation+`"x"`, ``), ranges(annotation+`"y"`, ``), `metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid value: "y": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		"stable label of a zone":           {"persistentvolume", "", volume(``, near("failure-domain.beta.kubernetes.io/zone", "a")), volume(``, near("topology.kubernetes.io/zone", "a")), ``},
		"stable label of a type":           {"persistentvolume", "", volume(``, near("beta.kubernetes.io/instance-type", "a")), volume(``, near("node.kubernetes.io/instance-type", "a")), ``},
		"stable label of another zone":     {"persistentvolume", "", volume(``, near("failure-domain.beta.kubernetes.io/zone", "a")), volume(``, near("topology.kubernetes.io/zone", "b")), immovable("topology.kubernetes.io/zone", "b")},
		"stable label of another matter":   {"persistentvolume", "", volume(``, near("failure-domain.beta.kubernetes.io/zone", "a")), volume(``, near("topology.kubernetes.io/region", "a")), immovable("topology.kubernetes.io/region", "a")},
		"beta label":                       {"persistentvolume", "", volume(``, near("topology.kubernetes.io/zone", "a")), volume(``, near("failure-domain.beta.kubernetes.io/zone", "a")), immovable("failure-domain.beta.kubernetes.io/zone", "a")},
		"place of a volume":                {"persistentvolume", "", volume(``, ``), volume(``, near("topology.kubernetes.io/zone", "a")), ``},
		"no place of a volume":             {"persistentvolume", "", volume(``, near("topology.kubernetes.io/zone", "a")), volume(``, ``), `spec.nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA`},
		"secret to expand a volume":        {"persistentvolume", "", volume(``, ``), volume(secret+`"a"}`, ``), ``},
		"another secret":                   {"persistentvolume", "", volume(secret+`"a"}`, ``), volume(secret+`"b"}`, ``), `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation`},
		"secret and another of the source": {"persistentvolume", "", volume(``, ``), volume(`,"readOnly":true`+secret+`"a"}`, ``), `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation`},
	} {
		t.Run(name, func(t *testing.T) {
			err := crdtest.Change(t, defs[tc.kind], tc.sub, tc.old, tc.body)
			if got := crdtest.Message(err); got != tc.want || (err == nil) != (tc.want == "") {
				t.Errorf("got  %v (%v)\nwant %v", got, err, tc.want)
			}
		})
	}
}

func TestRangesOfServicesAreOfTwoFamilies(t *testing.T) {
	d := builtintest.Definitions(t)["servicecidr"]
	for list, want := range map[string]string{
		`"10.0.0.0/16","2001:db8::/64"`: ``,
		`"10.0.0.0/16","10.1.0.0/16"`:   `spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`,
	} {
		if got := crdtest.Message(crdtest.Creation(t, d, `{"metadata":{"name":"x"},"spec":{"cidrs":[`+list+`]}}`)); got != want {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}

// A load balancer's ranges may have spaces around them; the annotation counts where
// the field is empty.
func TestRangesOfSources(t *testing.T) {
	const (
		annotation = `metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: `
		noRange    = `must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`
		only       = "Forbidden: may only be used when `type` is 'LoadBalancer'"
	)
	d := builtintest.Definitions(t)["service"]
	for _, tc := range []struct{ kind, annotation, list, want string }{
		{"LoadBalancer", ``, `" 10.0.0.0/8 "`, ``},
		{"LoadBalancer", ``, `" "`, `spec.LoadBalancerSourceRanges[0]: Invalid value: "": ` + noRange},
		{"LoadBalancer", ``, `"10.0.0.1/8"`, `spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`},
		{"LoadBalancer", ` 10.0.0.0/8 , fd00::/8`, ``, ``},
		{"LoadBalancer", ` `, ``, ``},
		{"LoadBalancer", `10.0.0.0/8,`, ``, annotation + `Invalid value: "": ` + noRange},
		{"LoadBalancer", `x`, `"10.0.0.0/8"`, ``},
		{"ClusterIP", `10.0.0.0/8`, ``, annotation + only},
		{"ClusterIP", ``, `"10.0.0.0/8"`, `spec.LoadBalancerSourceRanges: ` + only},
		{"ClusterIP", ``, ``, ``},
	} {
		body := `{"metadata":{"name":"x"`
		if tc.annotation != "" {
			body += `,"annotations":{"service.beta.kubernetes.io/load-balancer-source-ranges":"` + tc.annotation + `"}`
		}
		body += `},"spec":{"type":"` + tc.kind + `","ports":[{"port":1}],"loadBalancerSourceRanges":[` + tc.list + `]}}`
		if got := crdtest.Message(crdtest.Creation(t, d, body)); got != tc.want {
			t.Errorf("%+v: got %s", tc, got)
		}
	}
}

// What is said of rolling updates counts for nothing where there are none.
func TestRollingUpdatesOfDaemonSets(t *testing.T) {
	const odd = `{"maxSurge":"200%","maxUnavailable":5}`
	d := builtintest.Definitions(t)["daemonset"]
	for _, tc := range []struct {
		strategy, want string
		kept           map[string]any
	}{
		{`"type":"OnDelete","rollingUpdate":{}`, ``, map[string]any{}},
		{`"type":"OnDelete","rollingUpdate":` + odd, ``, map[string]any{"maxSurge": "200%", "maxUnavailable": int64(5)}},
		{`"rollingUpdate":{}`, ``, map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)}},
		{`"rollingUpdate":` + odd, `[spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "200%": must not be greater than 100%, spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "200%": may not be set when maxUnavailable is non-zero]`, map[string]any{"maxSurge": "200%", "maxUnavailable": int64(5)}},
	} {
		body := `{"metadata":{"name":"x"},"spec":{"updateStrategy":{` + tc.strategy + `},"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`
		if got := crdtest.Message(crdtest.Creation(t, d, body)); !slices.Equal(said(got), said(tc.want)) {
			t.Errorf("%s: %s", tc.strategy, got)
		}
		if got := object.Child(crdtest.Shaped(t, d, body).Object, "spec", "updateStrategy", "rollingUpdate"); !reflect.DeepEqual(got, tc.kept) {
			t.Errorf("%s: %v is made", tc.strategy, got)
		}
	}
}

// What the status of a job may become. The messages are kube-apiserver 1.36's.
func TestWhatStatusesOfJobsMayBecome_UPD02(t *testing.T) {
	job := func(suspended, status string) string {
		return `{"metadata":{"name":"x"},"spec":{"completions":3,"completionMode":"Indexed","suspend":` + suspended + `,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},"status":{` + status + `}}`
	}
	begun := func(second string) string { return `"startTime":"2026-01-01T00:00:0` + second + `Z"` }
	const finished = `"conditions":[{"type":"FailureTarget","status":"True"},{"type":"Failed","status":"True"}]`
	none := func(job string) string { return strings.Replace(job, `"completions":3`, `"completions":0`, 1) }
	paused := func(is string) string { return `,"conditions":[{"type":"Suspended","status":"` + is + `"}]` }
	definition := builtintest.Definitions(t)["job"]
	for name, tc := range map[string]struct{ old, body, want string }{
		"indexes that are none":       {job(`false`, ``), job(`false`, `"completedIndexes":"1,x"`), `status.completedIndexes: Invalid value: "1,x": error parsing completedIndexes: cannot convert string to integer for index: "x"`},
		"indexes":                     {job(`false`, ``), job(`false`, `"completedIndexes":"0-1"`), ``},
		"another start":               {job(`false`, begun("1")), job(`false`, begun("2")), `status.startTime: Invalid value: "2026-01-01T00:00:02Z": field is immutable for unsuspended job once set`},
		"start of a suspended job":    {job(`true`, begun("1")), job(`true`, begun("2")), ``},
		"start of a job that goes on": {job(`false`, begun("1")+paused("True")), job(`false`, begun("2")+paused("False")), ``},
		"start of one that never was": {job(`false`, begun("1")), job(`false`, begun("2")+paused("False")), `status.startTime: Invalid value: "2026-01-01T00:00:02Z": field is immutable for unsuspended job once set`},
		"start while still suspended": {job(`false`, begun("1")+paused("True")), job(`false`, begun("2")+paused("True")), `status.startTime: Invalid value: "2026-01-01T00:00:02Z": field is immutable for unsuspended job once set`},
		"end without a start":         {job(`false`, ``), job(`false`, finished), `status.startTime: Required value: startTime is required for finished job`},
		"end of a suspended job":      {job(`true`, ``), job(`true`, finished), `status.startTime: Required value: startTime is required for finished job`},
		"end of a job of nothing":     {none(job(`false`, ``)), none(job(`false`, finished)), `status.startTime: Required value: startTime is required for finished job`},
		"that of a suspended one":     {none(job(`true`, ``)), none(job(`true`, finished)), ``},
	} {
		t.Run(name, func(t *testing.T) {
			err := crdtest.Change(t, definition, "status", tc.old, tc.body)
			if got := crdtest.Message(err); got != tc.want || (err == nil) != (tc.want == "") {
				t.Errorf("got  %v (%v)\nwant %v", got, err, tc.want)
			}
		})
	}
}

// An object that is brought to another layout keeps its owners, and so does the one that
// it was made of.
func TestLayoutsKeepOwners(t *testing.T) {
	layouts := extend.Of(schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}).Layouts
	const managed = `[{"manager":"m"}]`
	tree, _, err := object.ParseObject([]byte(`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","managedFields":` + managed + `},
		"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	owned := func(tree map[string]any) bool { return string(object.Detach(object.Clone(tree))) == managed }
	if v1, err := layouts["autoscaling/v1"].Away(tree); err != nil || !owned(v1) || !owned(tree) {
		t.Errorf("what was made has owners: %v, and what it was made of: %v, %v", owned(v1), owned(tree), err)
	}
	for _, to := range []string{"autoscaling/v1", "autoscaling/v2"} {
		if err := layouts.Convert(tree, to); err != nil {
			t.Fatal(err)
		}
		_, v1 := object.Child(tree, "spec")["targetCPUUtilizationPercentage"]
		data, err := object.Encode(tree)
		if err != nil || v1 != (to == "autoscaling/v1") || !strings.Contains(string(data), `"managedFields":`+managed) {
			t.Errorf("at %s: %s, %v", to, data, err)
		}
	}
}
