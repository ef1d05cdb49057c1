package combined

import (
	"slices"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// kind is a kind whose subresources get requests.
type kind struct {
	plural, version, kind string
	cluster               bool
	subresources          []string
	// rounds is how often each method is tried, 1 unless it is set.
	tries int
	// spec is what the object has beside its metadata, and status a status that it
	// can have, where NUMBER is a number.
	spec, status string
	// object is the whole object.
	object string
}

const template = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// signing is a request for a certificate, in PEM and base64.
const signing = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCRGdZREhEMVoyWEN3K053VUlJVVpGMVZ4MUozWWNaTjdHVEdEVVJJWmdrWDltcitieFovKzE2UStucFhva2ErCk1OT0hKU2tqdE03T2tqM05WUkFFU0NhZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpRUFrZlFhSzFzcnV4cE8KTTFtaSs2UTFrc2Q5N2l4Yk5uMG03ZkhqU1U2N29Hc0NJRVlLbmVsL2ZaTVI2dXdjMUVCbnpvYkQ5YU5yZXJqTApJNUVhOC96OGxCNU8KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="

func kinds() []kind {
	return []kind{
		{plural: "pods", version: "v1", kind: "Pod", subresources: []string{"status", "ephemeralcontainers", "resize", "binding", "eviction", "log", "exec", "attach", "portforward", "proxy", "scale", "odd"},
			spec: `"spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"100m"}}}]}`, status: `{"message":"mNUMBER"}`},
		{plural: "serviceaccounts", version: "v1", kind: "ServiceAccount", subresources: []string{"token", "status"}, tries: 2},
		{plural: "services", version: "v1", kind: "Service", subresources: []string{"status", "proxy", "scale"}, spec: `"spec":{"clusterIP":"None","selector":{"a":"b"},"ports":[{"port":80}]}`, status: `{"loadBalancer":{}}`},
		{plural: "replicationcontrollers", version: "v1", kind: "ReplicationController", subresources: []string{"status", "scale"}, spec: `"spec":{"replicas":1,` + strings.Replace(template, `{"matchLabels":{"a":"b"}}`, `{"a":"b"}`, 1) + `}`, status: `{"replicas":NUMBER}`},
		{plural: "nodes", version: "v1", kind: "Node", cluster: true, subresources: []string{"status", "scale"}, spec: `"spec":{"unschedulable":true}`, status: `{"nodeInfo":{"osImage":"oNUMBER"}}`},
		{plural: "namespaces", version: "v1", kind: "Namespace", cluster: true, subresources: []string{"status", "finalize", "odd"}, spec: `"spec":{"finalizers":["kubernetes"]}`, status: `{"phase":"Active"}`},
		{plural: "persistentvolumes", version: "v1", kind: "PersistentVolume", cluster: true, subresources: []string{"status"}, spec: `"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"storageClassName":"none","persistentVolumeReclaimPolicy":"Retain","hostPath":{"path":"/tmp"}}`, status: `{"phase":"Available","message":"mNUMBER"}`},
		{plural: "deployments", version: "apps/v1", kind: "Deployment", subresources: []string{"status", "scale", "odd"}, tries: 2, spec: `"spec":{"replicas":1,` + template + `}`, status: `{"observedGeneration":NUMBER}`},
		{plural: "replicasets", version: "apps/v1", kind: "ReplicaSet", subresources: []string{"status", "scale"}, spec: `"spec":{"replicas":1,` + template + `}`, status: `{"replicas":NUMBER}`},
		{plural: "statefulsets", version: "apps/v1", kind: "StatefulSet", subresources: []string{"status", "scale"}, spec: `"spec":{"serviceName":"s","replicas":1,` + template + `}`, status: `{"replicas":NUMBER}`},
		{plural: "daemonsets", version: "apps/v1", kind: "DaemonSet", subresources: []string{"status", "scale"}, spec: `"spec":{` + template + `}`, status: `{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":NUMBER,"numberReady":0}`},
		{plural: "jobs", version: "batch/v1", kind: "Job", subresources: []string{"status", "scale"}, spec: `"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}`, status: `{"active":NUMBER}`},
		{plural: "cronjobs", version: "batch/v1", kind: "CronJob", subresources: []string{"status"}, spec: `"spec":{"schedule":"1 1 1 1 1","suspend":true,"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}`, status: `{"lastScheduleTime":"2020-01-0NUMBERT00:00:00Z"}`},
		{plural: "horizontalpodautoscalers", version: "autoscaling/v2", kind: "HorizontalPodAutoscaler", subresources: []string{"status"}, spec: `"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]}`, status: `{"desiredReplicas":NUMBER,"currentMetrics":null,"conditions":[]}`},
		{plural: "poddisruptionbudgets", version: "policy/v1", kind: "PodDisruptionBudget", subresources: []string{"status", "eviction"}, spec: `"spec":{"minAvailable":1,"selector":{"matchLabels":{"odd":"odd"}}}`, status: `{"disruptionsAllowed":0,"currentHealthy":NUMBER,"desiredHealthy":1,"expectedPods":1}`},
		{plural: "ingresses", version: "networking.k8s.io/v1", kind: "Ingress", subresources: []string{"status"}, spec: `"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}`, status: `{"loadBalancer":{"ingress":[{"ip":"10.0.0.NUMBER"}]}}`},
		{plural: "certificatesigningrequests", version: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", cluster: true, subresources: []string{"status", "approval"}, tries: 2, spec: `"spec":{"signerName":"example.com/s","usages":["client auth"],"request":"` + signing + `"}`,
			status: `{"conditions":[{"type":"Approved","status":"True","reason":"rNUMBER","lastUpdateTime":"2020-01-01T00:00:00Z","lastTransitionTime":"2020-01-01T00:00:00Z"}]}`},
		{plural: "configmaps", version: "v1", kind: "ConfigMap", subresources: []string{"status", "scale", "odd"}, spec: `"data":{"a":"b"}`},
	}
}

// name is the object's; what is in no namespace is named after the table.
func (k kind) name() string {
	if k.cluster {
		return "combined-there"
	}
	return "there"
}

// metadata is that of the object.
func (k kind) metadata() string {
	return `"metadata":{"name":"` + k.name() + `","labels":{"combined":"yes"}}`
}

// story makes the requests about an object of the kind.
func (k kind) story(g generator) story.Story {
	s := &sheet{generator: g, kind: k, rounds: max(k.tries, 1)}
	s.Name = "subresources of " + k.plural
	root := "/apis/" + k.version
	if !strings.Contains(k.version, "/") {
		root = "/api/" + k.version
	}
	s.collection = root + "/" + k.plural
	if !k.cluster {
		s.collection = root + "/namespaces/combined-" + k.plural + "/" + k.plural
		s.Before = append(s.Before, story.Step{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON, Body: `{"metadata":{"name":"combined-` + k.plural + `"}}`})
	}
	s.object = `{"apiVersion":"` + k.version + `","kind":"` + k.kind + `",` + k.metadata()
	if k.spec != "" {
		s.object += "," + k.spec
	}
	s.object += "}"
	s.Base, s.Sample = s.collection, s.object
	s.After = s.removal()
	s.Before = slices.Concat(s.Before, s.removal(), []story.Step{
		{Method: "GET", Path: s.collection + "/" + k.name(), Until: `"Failure"`},
		{Method: "POST", Path: s.collection, Type: story.JSON, Body: s.object},
	})
	for _, name := range k.subresources {
		s.subresource(name)
	}
	return s.Story
}

// removal deletes the object, and does at once what controllers would do at last.
func (s *sheet) removal() []story.Step {
	there := s.collection + "/" + s.name()
	steps := []story.Step{
		{Method: "DELETE", Path: there, Type: story.JSON, Body: `{"gracePeriodSeconds":0,"propagationPolicy":"Background"}`},
		{Method: "PATCH", Path: there, Type: story.MergePatch, Body: `{"metadata":{"finalizers":null}}`},
	}
	if s.kind.kind == "Namespace" {
		steps = append(steps, story.Step{Method: "PUT", Path: there + "/finalize", Type: story.JSON, Body: strings.Replace(s.object, `["kubernetes"]`, `[]`, 1)})
	}
	return steps
}

// schema is that of a custom resource with a status and a scale.
const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer","minimum":0},"host":{"type":"string","maxLength":9}}},"status":{"type":"object","properties":{"replicas":{"type":"integer"},"message":{"type":"string"}}}}}`

// custom makes the requests about a custom resource.
func custom(g generator) story.Story {
	s := &sheet{generator: g, rounds: 4}
	s.Name = "subresources of a custom resource"
	s.kind = kind{version: s.Group() + "/v1", kind: "Thing", cluster: true, status: `{"message":"mNUMBER"}`}
	s.object = `{"apiVersion":"` + s.version + `","kind":"Thing",` + s.metadata() + `,"spec":{"replicas":1,"host":"h"}}`
	s.Definition = s.Define(strings.Replace(story.Version(schema), `"storage":true`, `"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}`, 1))
	s.collection = s.Things("v1")
	s.Base, s.Sample = s.collection, s.object
	s.Add(story.Step{Method: "POST", Path: s.collection, Body: s.object})
	for _, name := range []string{"status", "scale", "odd"} {
		s.subresource(name)
	}
	return s.Story
}
