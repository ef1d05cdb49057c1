package extend_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What cannot change cannot come later either, as kube-apiserver 1.36.3 has it; what is
// only decided later can.
func TestWhatIsFixedDoesNotComeLater(t *testing.T) {
	const job = `{"metadata":{"name":"x","uid":"u"},"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	for _, c := range []struct{ kind, sub, old, body, want string }{
		{"job", "", job + `}}`, job + `,"managedBy":"a.b/c"}}`, `spec.managedBy: Invalid value: "a.b/c": field is immutable`},
		{"job", "", job + `}}`, job + `,"backoffLimitPerIndex":1,"backoffLimit":6}}`, `spec.backoffLimitPerIndex: Invalid value: 1: field is immutable`},
		{"storageclass", "", `{"metadata":{"name":"x"},"provisioner":"p"}`, `{"metadata":{"name":"x"},"provisioner":"p","parameters":{"a":"b"}}`, `parameters: Invalid value: {"a":"b"}: field is immutable`},
		{"storageclass", "", `{"metadata":{"name":"x"},"provisioner":"p"}`, `{"metadata":{"name":"x"},"provisioner":"p","parameters":{}}`, ``},
		{"csistoragecapacity", "", `{"metadata":{"name":"x","resourceVersion":"1"},"storageClassName":"s"}`, `{"metadata":{"name":"x","resourceVersion":"1"},"storageClassName":"s","nodeTopology":{"matchLabels":{"a":"b"}}}`, `nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable`},
		{"pod", "ephemeralcontainers", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"i","image":"i"}]}}`, `{"metadata":{"name":"x"},"spec":{"ephemeralContainers":[{"name":"c","image":"i"},{"name":"i","image":"i"}]}}`,
			`[spec.ephemeralContainers[0].name: Duplicate value: "c", spec.ephemeralContainers[1].name: Duplicate value: "i"]`},
		{"pod", "status", `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}]}}`, `{"metadata":{"name":"x"},"status":{"qosClass":"BestEffort"}}`, ``},
	} {
		err := crdtest.Change(t, builtintest.Definitions(t)[c.kind], c.sub, c.old, c.body)
		if got := crdtest.Message(err); !strings.Contains(got, c.want) || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v (%v), want %s", c.body, got, err, c.want)
		}
	}
}

// What is behind a gate that is off in kube-apiserver 1.36.3 is dropped, unless it was there.
func TestHowManyPodsOfAStatefulSetMayBeAway(t *testing.T) {
	d := builtintest.Definitions(t)["statefulset"]
	const set = `{"metadata":{"name":"x"},"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2}}}}`
	fresh, kept := crdtest.Shaped(t, d, set), crdtest.Shaped(t, d, set)
	d.Versions[0].Strategy.Prepare(t.Context(), fresh, nil)
	d.Versions[0].Strategy.Prepare(t.Context(), kept, crdtest.Shaped(t, d, set))
	most := func(u *unstructured.Unstructured) any {
		n, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable")
		return n
	}
	if most(fresh) != nil || most(kept) != int64(2) {
		t.Errorf("a new one has %v, one that had it %v", most(fresh), most(kept))
	}
}

// The pods of a job may be others while none of them can be there.
func TestTheTemplateOfAJob(t *testing.T) {
	job := func(suspend, status, template, container string) string {
		return `{"metadata":{"name":"x","uid":"u"},"spec":{"manualSelector":true,"suspend":` + suspend + `,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never"` + template + `,"containers":[{"name":"c","image":"i"` + container + `}]}}},"status":{` + status + `}}`
	}
	const (
		node     = `,"nodeSelector":{"a":"b"}`
		sizes    = `,"resources":{"requests":{"cpu":"1"}}`
		near     = `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}`
		apart    = `,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}]}}`
		started  = `"startTime":"2026-01-01T00:00:00Z"`
		fixed    = "spec.template: Invalid value: field is immutable"
		fixedNow = "spec.template.spec: Invalid value: field is immutable"
	)
	for _, c := range []struct{ suspend, status, template, container, want string }{
		{"true", ``, node + near, sizes, ``},
		{"true", ``, `,"tolerations":[{"operator":"Exists"}],"schedulingGates":[{"name":"g"}]`, ``, ``},
		{"true", ``, apart, ``, fixedNow},
		{"true", ``, ``, `,"tty":true`, fixedNow},
		{"true", ``, `,"hostPID":true`, sizes, fixedNow},
		{"false", ``, node, ``, fixed},
		{"false", ``, ``, sizes, fixed},
		{"false", ``, ``, ``, ``},
		{"true", started, node, ``, fixed},
		{"true", started + `,"conditions":[{"type":"Suspended","status":"True"}]`, node, sizes, ``},
		{"true", `"active":1`, node, ``, fixed},
	} {
		err := crdtest.Change(t, builtintest.Definitions(t)["job"], "", job(c.suspend, c.status, ``, ``), job(c.suspend, c.status, c.template, c.container))
		if got := crdtest.Message(err); !strings.Contains(got, c.want) || (err == nil) != (c.want == "") {
			t.Errorf("%+v: %v (%v)", c, got, err)
		}
	}
	near2 := strings.Replace(near, "Exists", "DoesNotExist", 1)
	for from, to := range map[string]string{near: near2, near2: ``} {
		if err := crdtest.Change(t, builtintest.Definitions(t)["job"], "", job("true", ``, from, ``), job("true", ``, to, ``)); err != nil {
			t.Errorf("from %s to %s: %v", from, to, err)
		}
	}
}

// A pod's size may change within its class, by processors and memory alone, and of what
// can be resized.
func TestWhatAResizeMayChange(t *testing.T) {
	pod := func(meta, spec, container, resources, status string) string {
		return `{"metadata":{"name":"x"` + meta + `},"spec":{` + spec + `"containers":[{"name":"c","image":"i"` + container + `,"resources":` + resources + `}],"initContainers":[{"name":"i","image":"i","resources":{"requests":{"cpu":"1"}}}]},"status":{"qosClass":"Burstable"` + status + `}}`
	}
	const was = `{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"memory":"2Gi"}}`
	for _, c := range []struct{ name, old, body, want string }{
		{"processors", pod(``, ``, ``, was, ``), pod(``, ``, ``, `{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"memory":"2Gi"}}`, ``), ``},
		{"memory", pod(``, ``, ``, was, ``), pod(``, ``, ``, `{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"memory":"1Gi","cpu":"2"}}`, ``), ``},
		{"another class", pod(``, ``, ``, was, ``), strings.Replace(pod(``, ``, ``, `{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"memory":"1Gi","cpu":"1"}}`, ``), `{"requests":{"cpu":"1"}}`, `{"requests":{"cpu":"1","memory":"1"},"limits":{"cpu":"1","memory":"1"}}`, 1), "spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing"},
		{"no limits", pod(``, ``, ``, was, ``), pod(``, ``, ``, `{"requests":{"cpu":"1","memory":"1Gi"}}`, ``), "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"},
		{"other resources", pod(``, ``, ``, was, ``), pod(``, ``, ``, `{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"memory":"2Gi","a.b/c":"1"}}`, ``), "spec: Forbidden: only cpu and memory resources are mutable"},
		{"a policy", pod(``, ``, ``, was, ``), pod(``, ``, `,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`, was, ``), "spec: Forbidden: only cpu and memory resources are mutable"},
		{"another container", pod(``, ``, ``, was, ``), strings.Replace(pod(``, ``, ``, was, ``), `"name":"c"`, `"name":"d"`, 1), "spec.containers: Forbidden: containers may not be added or removed on resize"},
		{"a static pod", pod(`,"annotations":{"kubernetes.io/config.mirror":"x"}`, `"nodeName":"n",`, ``, was, ``), pod(`,"annotations":{"kubernetes.io/config.mirror":"x"}`, ``, ``, was, ``), ": Forbidden: static pods cannot be resized"},
		{"of Windows", pod(``, `"os":{"name":"windows"},`, ``, was, ``), pod(``, ``, ``, was, ``), ": Forbidden: windows pods cannot be resized"},
		{"on an old node", pod(``, ``, ``, was, `,"containerStatuses":[{"name":"c","state":{"running":{}}}]`), pod(``, ``, ``, was, ``), "spec: Forbidden: Pod running on node without support for resize"},
		{"an init container", pod(``, ``, ``, was, ``), strings.Replace(pod(``, ``, ``, was, ``), `{"requests":{"cpu":"1"}}`, `{"requests":{"cpu":"2"}}`, 1), ``},
		{"an init container's other resources", pod(``, ``, ``, was, ``), strings.Replace(pod(``, ``, ``, was, ``), `{"requests":{"cpu":"1"}}`, `{"requests":{"cpu":"1","ephemeral-storage":"1"}}`, 1), "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"},
		{"the whole", pod(``, `"resources":{"requests":{"cpu":"2"}},`, ``, was, ``), pod(``, `"resources":{"requests":{"cpu":"3"}},`, ``, was, ``), ``},
		{"not the whole", pod(``, `"resources":{"requests":{"cpu":"2"}},`, ``, was, ``), pod(``, ``, ``, was, ``), "spec.resources: Forbidden: pod-level resources cannot be removed"},
		{"less of the whole", pod(``, `"resources":{"requests":{"cpu":"2","memory":"3Gi"}},`, ``, was, ``), pod(``, `"resources":{"requests":{"cpu":"2"}},`, ``, was, ``), "spec.resources.requests: Forbidden: pod-level resource requests cannot be removed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := crdtest.Change(t, builtintest.Definitions(t)["pod"], "resize", c.old, c.body)
			if got := crdtest.Message(err); !strings.Contains(got, c.want) || (err == nil) != (c.want == "") {
				t.Errorf("%v (%v), want %s", got, err, c.want)
			}
		})
	}
}

// A pod that says some of its resources requests the rest by its containers and limits.
func TestTheResourcesOfAWholePod(t *testing.T) {
	for said, want := range map[string]string{
		`"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1"}},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]`:                                      `{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}`,
		`"resources":{"limits":{"cpu":"4"}},"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}},{"name":"d","image":"i","resources":{"requests":{"cpu":"2","memory":"1Mi"}}}]`: `{"limits":{"cpu":"4"},"requests":{"cpu":"3","memory":"1Mi"}}`,
		`"resources":{"requests":{"cpu":"1"}},"containers":[{"name":"c","image":"i","resources":{"limits":{"hugepages-2Mi":"4Mi","memory":"1Mi"}}}]`:                                                 `{"limits":{"hugepages-2Mi":"4Mi"},"requests":{"cpu":"1","hugepages-2Mi":"4Mi","memory":"1Mi"}}`,
		`"resources":{"requests":{"cpu":"1"}},"containers":[{"name":"c","image":"i"}]`:                                                                                                               `{"requests":{"cpu":"1"}}`,
		`"resources":{},"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]`:                                                                                                  `{}`,
	} {
		got, err := json.Marshal(podOf(t, said).Object["spec"].(map[string]any)["resources"])
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", said, got, err)
		}
	}
}

// What kube-apiserver 1.36.3 refuses of new objects.
func TestWhatNewObjectsMayNotSay(t *testing.T) {
	const everything = `{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]`
	pod := func(more string) string {
		return `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],` + more + `}}`
	}
	level := func(name, spec string) string { return `{"metadata":{"name":"` + name + `"},"spec":{` + spec + `}}` }
	for _, c := range []struct{ kind, body, want string }{
		{"pod", pod(`"volumes":[{"name":"v","flexVolume":{"driver":"a/b","options":{"Kubernetes.io/x":"y","mykubernetes.io/x":"y"}}}]`), "spec.volumes[0].flexVolume.options[Kubernetes.io/x]: Invalid value: \"Kubernetes.io/x\": kubernetes.io and k8s.io namespaces are reserved"},
		{"pod", pod(`"securityContext":{"seLinuxChangePolicy":"MountOption"}`), `spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"`},
		{"prioritylevelconfiguration", level("x", `"type":"Exempt"`), "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"},
		{"prioritylevelconfiguration", level("x", `"type":"Limited","limited":{"limitResponse":{"type":"Reject","queuing":{"queues":1,"handSize":1}}}`), "spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited"},
		{"prioritylevelconfiguration", level("x", `"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{"queues":1000000,"handSize":20}}}`), "spec.limited.limitResponse.queuing.handSize: Invalid value: 20: required entropy bits of deckSize 1000000 and handSize 20 should not be greater than 60"},
		{"prioritylevelconfiguration", level("x", `"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{"queues":1024,"handSize":6}}}`), ``},
		{"prioritylevelconfiguration", level("catch-all", `"type":"Limited","limited":{"nominalConcurrencyShares":9,"limitResponse":{"type":"Reject"}}`), "spec of 'catch-all' must equal the fixed value"},
		{"prioritylevelconfiguration", level("catch-all", `"type":"Limited","limited":{"nominalConcurrencyShares":5,"limitResponse":{"type":"Reject"}}`), ``},
		{"prioritylevelconfiguration", strings.Replace(level("x", `"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}`), `"name"`, `"annotations":{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":""},"name"`, 1), "metadata.annotations: Forbidden: annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden"},
		{"flowschema", level("exempt", `"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":1`), "spec of 'exempt' must equal the fixed value"},
		{"flowschema", level("exempt", `"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":1,"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:masters"}}],"resourceRules":[`+everything), ``},
		{"flowschema", level("catch-all", `"priorityLevelConfiguration":{"name":"catch-all"},"matchingPrecedence":10000,"distinguisherMethod":{"type":"ByUser"},"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},{"kind":"Group","group":{"name":"system:authenticated"}}],"resourceRules":[`+everything), ``},
		{"flowschema", level("catch-all", `"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":10000`), "spec of 'catch-all' must equal the fixed value"},
		{"service", level("x", `"ports":[{"port":80}],"clusterIP":"None","externalTrafficPolicy":"Local"`), "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for externally-accessible services"},
		{"subjectaccessreview", `{"spec":{"user":"u","resourceAttributes":{"labelSelector":{"rawSelector":"a=b","requirements":[{"key":"a","operator":"Q"}]}}}}`, `spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`},
		{"selfsubjectaccessreview", `{"spec":{"resourceAttributes":{"fieldSelector":{}}}}`, "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required"},
		{"subjectaccessreview", `{"spec":{"user":"u","resourceAttributes":{"labelSelector":{"requirements":[{"key":"a b","operator":"Exists","values":["x"]}]},"fieldSelector":{"requirements":[{"key":"","operator":"In"}]}}}}`, "spec.resourceAttributes.fieldSelector.requirements[0].values: Required value"},
		{"deviceclass", `{"metadata":{"name":"x"},"spec":{"config":[{"opaque":{"driver":"d","parameters":"x"}}]}}`, `spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object`},
		{"csidriver", `{"metadata":{"name":"x"},"spec":{"serviceAccountTokenInSecrets":true}}`, "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified"},
		{"csidriver", `{"metadata":{"name":"x"},"spec":{"serviceAccountTokenInSecrets":true,"tokenRequests":[{"audience":"a"}]}}`, ``},
		{"volumeattributesclass", `{"metadata":{"name":"x"},"driverName":"a.b","parameters":{"a":"` + strings.Repeat("x", 256<<10) + `"}}`, "parameters: Too long: may not be more than 262144 bytes"},
		{"storageclass", `{"metadata":{"name":"x"},"provisioner":"a.b","parameters":{"":"x"}}`, `parameters: Invalid value: "": field can not be empty.`},
	} {
		err := crdtest.Creation(t, builtintest.Definitions(t)[c.kind], c.body)
		if got := crdtest.Message(err); !strings.Contains(got, c.want) || (err == nil) != (c.want == "") {
			t.Errorf("%.200s: %v (%v), want %s", c.body, got, err, c.want)
		}
	}
}
