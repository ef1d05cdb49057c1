package ownership

// The built-in kinds of which lists have several keys, or parts are owned as a
// whole.
var (
	service       = kind{"/api/v1/namespaces/" + Namespace + "/services", "v1", "Service"}
	pod           = kind{"/api/v1/namespaces/" + Namespace + "/pods", "v1", "Pod"}
	deployment    = kind{"/apis/apps/v1/namespaces/" + Namespace + "/deployments", "apps/v1", "Deployment"}
	statefulSet   = kind{"/apis/apps/v1/namespaces/" + Namespace + "/statefulsets", "apps/v1", "StatefulSet"}
	cronJob       = kind{"/apis/batch/v1/namespaces/" + Namespace + "/cronjobs", "batch/v1", "CronJob"}
	ingress       = kind{"/apis/networking.k8s.io/v1/namespaces/" + Namespace + "/ingresses", "networking.k8s.io/v1", "Ingress"}
	networkPolicy = kind{"/apis/networking.k8s.io/v1/namespaces/" + Namespace + "/networkpolicies", "networking.k8s.io/v1", "NetworkPolicy"}
	endpointSlice = kind{"/apis/discovery.k8s.io/v1/namespaces/" + Namespace + "/endpointslices", "discovery.k8s.io/v1", "EndpointSlice"}
	roleBinding   = kind{"/apis/rbac.authorization.k8s.io/v1/namespaces/" + Namespace + "/rolebindings", "rbac.authorization.k8s.io/v1", "RoleBinding"}
)

// builtins are stories of built-in kinds, whose types are not in a definition.
var builtins = map[string]func(*tale){
	"SSA-20 a service": func(t *tale) {
		t.apply(service, "a", `"spec":{"clusterIP":"None","selector":{"app":"x"},"ports":[{"port":53,"name":"t"},{"port":53,"protocol":"UDP","name":"u"}]}`)
		t.apply(service, "b", `"spec":{"ports":[{"port":443,"name":"tls"},{"port":53,"protocol":"UDP","name":"u"}]}`)
		t.apply(service, "c", `"spec":{"selector":{"tier":"y"}}`)
		t.apply(service, "a", `"spec":{"clusterIP":"None","selector":{"app":"x"},"ports":[{"port":53,"name":"t"}]}`)
		t.apply(service, "b", `"spec":{"ports":[{"port":443,"name":"tls"}]}`)
		t.merge(service, "d", `{"spec":{"ports":[{"port":1,"name":"one"}]}}`)
		t.apply(service, "a", `"spec":{"ports":[{"port":1,"name":"two"}]}`)
	},
	"SSA-20 a deployment": func(t *tale) {
		const top = `"spec":{"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{`
		t.apply(deployment, "a", top+`"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"name":"t"},{"containerPort":80,"protocol":"UDP","name":"u"}],
			"env":[{"name":"A","value":"1"},{"name":"N","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],"volumeMounts":[{"name":"v","mountPath":"/v"}]}],
			"volumes":[{"name":"v","emptyDir":{}}],"hostAliases":[{"ip":"1.1.1.1","hostnames":["a"]}],"imagePullSecrets":[{"name":"s"}],"nodeSelector":{"disk":"ssd"},
			"tolerations":[{"key":"k","operator":"Exists"}],
			"topologySpreadConstraints":[{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","maxSkew":1},{"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","maxSkew":2}]}}}`)
		t.apply(deployment, "b", top+`"containers":[{"name":"c","ports":[{"containerPort":443}],"env":[{"name":"B","value":"2"}]},{"name":"d","image":"j"}],
			"volumes":[{"name":"w","configMap":{"name":"m"}}],"hostAliases":[{"ip":"2.2.2.2","hostnames":["b"]}],"imagePullSecrets":[{"name":"t"}],
			"topologySpreadConstraints":[{"topologyKey":"host","whenUnsatisfiable":"DoNotSchedule","maxSkew":1}]}}}`)
		t.apply(deployment, "b", top+`"containers":[{"name":"c","ports":[{"containerPort":80,"protocol":"UDP","name":"other"}]}],"nodeSelector":{"cpu":"fast"}}}}`)
		t.force(deployment, "b", top+`"containers":[{"name":"c","ports":[{"containerPort":80,"protocol":"UDP","name":"other"}]}],"nodeSelector":{"cpu":"fast"}}}}`)
		t.apply(deployment, "a", top+`"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"}]}]}}}`)
		t.merge(deployment, "u", `{"spec":{"replicas":3}}`)
		t.apply(deployment, "a", `"spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}`)
	},
	"SSA-20 a pod": func(t *tale) {
		t.create(pod, "a", `"spec":{"containers":[{"name":"c","image":"i"}]}`)
		status := func(manager, rest string) {
			t.applyAt(pod, "/status", manager, "", t.body(pod, "", `"status":{`+rest+`}`))
		}
		status("k", `"podIP":"10.1.1.1","podIPs":[{"ip":"10.1.1.1"}],"hostIP":"10.2.2.2","hostIPs":[{"ip":"10.2.2.2"}],"conditions":[{"type":"Ready","status":"True"}]`)
		status("l", `"conditions":[{"type":"example.com/l","status":"True"}]`)
		status("l", `"conditions":[{"type":"Ready","status":"False"}]`)
		status("k", `"conditions":[{"type":"Ready","status":"False"}]`)
	},
	"SSA-20 a stateful set": func(t *tale) {
		const claim = `{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
		t.apply(statefulSet, "a", `"spec":{"serviceName":"s","selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}},"volumeClaimTemplates":[`+claim+`]}`)
		t.apply(statefulSet, "b", `"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"}]}]}}}`)
		t.apply(statefulSet, "b", `"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}}}`)
	},
	"SSA-20 a cron job": func(t *tale) {
		job := func(env string) string {
			return `"spec":{"schedule":"0 0 * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","env":[` + env + `]}]}}}}}`
		}
		t.apply(cronJob, "a", job(`{"name":"A","value":"1"}`))
		t.apply(cronJob, "b", job(`{"name":"B","value":"2"}`))
		t.apply(cronJob, "a", job(``))
	},
	"SSA-20 what is owned as a whole": func(t *tale) {
		rule := func(host string) string {
			return `"spec":{"rules":[{"host":"` + host + `","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}`
		}
		t.apply(ingress, "a", rule("a.example.com"))
		t.apply(ingress, "b", rule("b.example.com"))
		t.apply(networkPolicy, "a", `"spec":{"podSelector":{"matchLabels":{"app":"x"}},"ingress":[{"from":[{"podSelector":{}}]}]}`)
		t.apply(networkPolicy, "b", `"spec":{"podSelector":{"matchLabels":{"tier":"x"}}}`)
		t.apply(networkPolicy, "b", `"spec":{"ingress":[{"from":[{"namespaceSelector":{}}]}]}`)
		t.apply(roleBinding, "a", `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"a","apiGroup":"rbac.authorization.k8s.io"}]`)
		t.apply(roleBinding, "b", `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"b","apiGroup":"rbac.authorization.k8s.io"}]`)
		t.apply(endpointSlice, "a", `"addressType":"IPv4","ports":[{"port":80,"name":"p"}],"endpoints":[{"addresses":["10.1.1.1"]}]`)
		t.apply(endpointSlice, "b", `"addressType":"IPv4","ports":[{"port":81,"name":"q"}]`)
		t.apply(endpointSlice, "b", `"addressType":"IPv4","endpoints":[{"addresses":["10.1.1.2"]}]`)
	},
}
