package quotas

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// quota makes a quota that nothing is used of, as whoever computes its status
// would leave it. hard and spec are parts of the spec.
func (s *scene) quota(name, hard, spec string) { s.quotaUsing(name, hard, spec, "") }

// quotaUsing makes one of which something is used: used says what, where it is
// not nothing.
func (s *scene) quotaUsing(name, hard, spec, used string) {
	s.brief("resourcequotas", `{"metadata":{"name":"`+name+`"},"spec":{"hard":{`+hard+`}`+spec+`}}`)
	var none []string
	for _, part := range strings.Split(hard, ",") {
		resource, _, _ := strings.Cut(part, ":")
		if !strings.Contains(used, resource) {
			none = append(none, resource+`:"0"`)
		}
	}
	if used != "" {
		none = append(none, used)
	}
	s.Add(story.Step{Method: "PATCH", Path: s.in("resourcequotas/" + name + "/status"), Type: story.MergePatch, Brief: true,
		Body: `{"status":{"hard":{` + hard + `},"used":{` + strings.Join(none, ",") + `}}}`})
}

// charged waits until all quotas are in force: who knows of the last, knows of
// the rest.
func (s *scene) charged() {
	s.quota("zz-last", `"count/leases.coordination.k8s.io":"0"`, "")
	s.Steps[len(s.Steps)-1].Await = &story.Step{Method: "POST", Path: s.in("coordination.k8s.io/v1/leases?dryRun=All"), Type: story.JSON, Body: `{"metadata":{"name":"await"}}`, Until: "exceeded quota: zz-last"}
}

// status is what is used of a quota.
func (s *scene) status(name string) {
	s.Add(story.Step{Method: "GET", Path: s.in("resourcequotas/" + name)})
}

func service(name, kind, ports string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{"type":"` + kind + `","ports":[` + ports + `]}}`
}

func counts(s *scene) {
	s.quota("plain", `"configmaps":"1","secrets":"0","replicationcontrollers":"0","persistentvolumeclaims":"0"`, "")
	s.quotaUsing("general", `"count/configmaps":"5","count/deployments.apps":"0","count/jobs.batch":"1","count/serviceaccounts":"1","count/nothing.example.com":"0"`, "", `"count/serviceaccounts":"1"`)
	s.charged()
	const template = `{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	s.try("configmaps", `{"metadata":{"name":"dry"}}`)
	s.status("plain")
	s.create("configmaps", `{"metadata":{"name":"one"}}`)
	s.status("plain")
	s.status("general")
	s.create("configmaps", `{"metadata":{"name":"two"}}`)
	s.Add(story.Step{Method: "PATCH", Path: s.in("configmaps/one"), Type: story.MergePatch, Body: `{"data":{"a":"b"}}`})
	s.Add(story.Step{Method: "PATCH", Path: s.in("configmaps/applied?fieldManager=x"), Type: "application/apply-patch+yaml", Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"}}`})
	s.Add(story.Step{Method: "PUT", Path: s.in("configmaps/put"), Body: `{"metadata":{"name":"put"}}`})
	s.create("secrets", `{"metadata":{"name":"one"}}`)
	s.create("serviceaccounts", `{"metadata":{"name":"one"}}`)
	s.create("replicationcontrollers", `{"metadata":{"name":"one"},"spec":{"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	s.create("persistentvolumeclaims", claim("one", "1"))
	s.create("apps/v1/deployments", `{"metadata":{"name":"one"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	s.brief("batch/v1/jobs?dryRun=All", `{"metadata":{"name":"one"},"spec":{"template":`+template+`}}`)
	s.brief("events?dryRun=All", `{"metadata":{"name":"dry"},"involvedObject":{"namespace":"`+s.ns+`"}}`)
	s.create("configmaps", `{"metadata":{"name":"Not valid"}}`)
}

func services(s *scene) {
	s.quota("all", `"services":"4","services.nodeports":"3","services.loadbalancers":"1","count/services":"9"`, "")
	s.charged()
	const one, two = `{"port":80,"nodePort":30180}`, `{"name":"a","port":80,"nodePort":30181},{"name":"b","port":81,"nodePort":30182}`
	s.brief("services", service("plain", "ClusterIP", `{"port":80}`))
	s.brief("services", service("node", "NodePort", one))
	s.status("all")
	s.brief("services", service("balancer", "LoadBalancer", two))
	s.status("all")
	s.create("services", service("more", "NodePort", `{"port":80,"nodePort":30183}`))
	s.create("services", service("more", "LoadBalancer", `{"port":80,"nodePort":30184}`))
	s.create("services", `{"metadata":{"name":"more"},"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}]}}`)
	s.Add(story.Step{Method: "PATCH", Path: s.in("services/plain"), Type: story.MergePatch, Body: `{"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30185}]}}`})
	s.Add(story.Step{Method: "PATCH", Path: s.in("services/plain"), Type: story.MergePatch, Body: `{"metadata":{"labels":{"a":"b"}}}`, Brief: true})
	s.brief("services", `{"metadata":{"name":"outside"},"spec":{"type":"ExternalName","externalName":"example.com"}}`)
	s.create("services", service("last", "ClusterIP", `{"port":80}`))
	s.status("all")
}

func storage(s *scene) {
	s.quota("all", `"persistentvolumeclaims":"5","requests.storage":"10Gi"`, "")
	s.quota("gold", `"gold.storageclass.storage.k8s.io/requests.storage":"2Gi","gold.storageclass.storage.k8s.io/persistentvolumeclaims":"1"`, "")
	s.charged()
	of := func(name, class, size string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"` + class + `","resources":{"requests":{"storage":"` + size + `"}}}}`
	}
	s.create("persistentvolumeclaims", of("large", "gold", "3Gi"))
	s.brief("persistentvolumeclaims", of("first", "gold", "1Gi"))
	s.status("all")
	s.status("gold")
	s.create("persistentvolumeclaims", of("second", "gold", "0.5Gi"))
	s.create("persistentvolumeclaims", of("other", "silver", "9.5Gi"))
	s.brief("persistentvolumeclaims", of("other", "silver", "1500"))
	s.status("all")
	s.brief("persistentvolumeclaims", of("none", "", "8Gi"))
	s.create("persistentvolumeclaims", of("more", "", "2Gi"))
	s.status("all")
}

// wrong is about specs that say what cannot be.
func wrong(s *scene) {
	s.create("resourcequotas", `{"metadata":{"name":"new"},"spec":{"hard":{"secrets":"1"}},"status":{"hard":{"secrets":"1"},"used":{"secrets":"1"}}}`)
	for _, spec := range []string{
		`"hard":{"Not A Name":"1","pods":"-1","configmaps":"1.5","nothing":"1","storage":"1","requests.hugepages-2Mi":"1","example.com/d":"0.5","count/x.example.com":"-1"}`,
		`"hard":{"pods":"1"},"scopes":["BestEffort","NotBestEffort"]`, `"hard":{"requests.cpu":"1"},"scopes":["BestEffort"]`, `"hard":{"services":"1"},"scopes":["PriorityClass"]`,
		`"hard":{"pods":"1"},"scopes":["Odd"]`, `"hard":{"pods":"1"},"scopes":["VolumeAttributesClass"]`,
		`"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"},{"scopeName":"BestEffort","operator":"In","values":["a"]},{"scopeName":"Terminating","operator":"Odd"}]}`,
		`"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists","values":["a"]}]}`,
	} {
		s.create("resourcequotas", `{"metadata":{"name":"bad"},"spec":{`+spec+`}}`)
	}
	for _, item := range []string{
		`{"type":"Container","min":{"cpu":"2"},"max":{"cpu":"1"}}`, `{"type":"Pod","default":{"cpu":"2"}}`, `{"type":"PersistentVolumeClaim"}`,
		`{"type":"Container","default":{"cpu":"2"},"max":{"cpu":"1"}}`, `{"type":"Container","maxLimitRequestRatio":{"cpu":"0.5"}}`, `{"type":"Container"},{"type":"Container"}`,
		`{"type":"Container","default":{"memory":"1Mi"},"defaultRequest":{"memory":"2Mi"}}`, `{"type":"Container","min":{"memory":"-1"}}`, `{"type":"Container","min":{"cpu":"100m"},"default":{"cpu":"50m"},"defaultRequest":{"cpu":"200m"}}`,
	} {
		s.create("limitranges", `{"metadata":{"name":"bad"},"spec":{"limits":[`+item+`]}}`)
	}
}
