package quotas

import "github.com/wasmgate/wasmgate/test/story"

func compute(s *scene) {
	s.quota("all", `"requests.cpu":"2","limits.memory":"4Gi","requests.example.com/d":"2","requests.ephemeral-storage":"1Gi","pods":"3"`, "")
	s.charged()
	const whole = `"cpu":"1"`
	s.try("pods", pod("none", "", `{}`))
	s.try("pods", pod("part", "", resources(whole, ""), resources("", `"memory":"1Gi"`)))
	s.try("pods", pod("initial", initial(resources(whole, "")), resources(whole, `"memory":"1Gi"`)))
	s.try("pods", pod("large", "", resources(`"cpu":"3"`, `"memory":"1Gi"`)))
	s.try("pods", pod("larger", "", resources(`"cpu":"3","ephemeral-storage":"2Gi"`, `"memory":"5Gi","example.com/d":"3"`)))
	s.try("pods", pod("defaulted", "", resources("", `"cpu":"2500m","memory":"1Gi"`)))
	s.try("pods", pod("sum", initial(resources(`"cpu":"2500m"`, `"memory":"1Gi"`)), resources(whole, `"memory":"1Gi"`)))
	s.brief("pods", pod("first", "", resources(`"cpu":"500m"`, `"memory":"1Gi","example.com/d":"1"`), resources(`"cpu":"250m"`, `"memory":"1Gi"`)))
	s.status("all")
	s.create("pods", pod("second", "", resources(`"cpu":"1500m"`, `"memory":"1Gi"`)))
	s.brief("pods", pod("second", "", resources(whole, `"memory":"1Gi"`)))
	s.brief("pods", pod("third", "", resources(`"cpu":"0"`, `"memory":"1"`)))
	s.create("pods", pod("fourth", "", resources(`"cpu":"0"`, `"memory":"1"`)))
	s.Add(story.Step{Method: "PATCH", Path: s.in("pods/third"), Type: story.MergePatch, Body: `{"metadata":{"labels":{"a":"b"}}}`, Brief: true})
	s.Add(story.Step{Method: "PATCH", Path: s.in("pods/third/resize"), Type: "application/strategic-merge-patch+json", Body: `{"spec":{"containers":[{"name":"c0","resources":{"requests":{"cpu":"1"}}}]}}`})
	s.status("all")
}

func plainNames(s *scene) {
	s.quota("cpu", `"cpu":"1","count/pods":"9"`, "")
	s.quota("memory", `"memory":"1Gi","hugepages-2Mi":"4Mi","requests.hugepages-2Mi":"4Mi"`, "")
	s.charged()
	s.try("pods", pod("memory", "", resources(`"memory":"1Mi"`, "")))
	s.try("pods", pod("cpu", "", resources(`"cpu":"1"`, "")))
	s.try("pods", pod("large", "", resources(`"cpu":"2","memory":"1Mi"`, "")))
	s.try("pods", pod("huge", "", resources(`"cpu":"1","memory":"1Mi"`, `"hugepages-2Mi":"8Mi"`)))
	s.try("pods", pod("whole", `"resources":`+resources(`"cpu":"3","memory":"1Mi"`, ""), resources(`"cpu":"1","memory":"1Mi"`, "")))
	s.try("pods", pod("whole", `"resources":`+resources(`"cpu":"1","memory":"1Mi"`, ""), `{}`))
	s.brief("pods", pod("kept", "", resources(`"cpu":"1","memory":"1Mi"`, `"hugepages-2Mi":"2Mi"`)))
	s.status("cpu")
	s.status("memory")
}

func scopes(s *scene) {
	hard := `"pods":"0"`
	s.quota("a-best", hard, `,"scopes":["BestEffort"]`)
	s.quota("b-ending", hard, `,"scopes":["Terminating","NotBestEffort"]`)
	s.quota("c-class", hard, `,"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["system-node-critical"]},{"scopeName":"NotBestEffort","operator":"Exists"}]}`)
	s.quota("d-abroad", hard, `,"scopes":["CrossNamespacePodAffinity"]`)
	s.quota("e-count", `"count/pods":"1"`, `,"scopes":["NotTerminating"]`)
	s.quota("f-limits", `"limits.cpu":"1"`, `,"scopes":["Terminating"]`)
	s.charged()
	some := resources(`"cpu":"1m"`, "")
	s.try("pods", pod("best", "", `{}`))
	s.try("pods", pod("ending", `"activeDeadlineSeconds":5`, resources("", `"cpu":"1m"`)))
	s.try("pods", pod("ending-best", `"activeDeadlineSeconds":5`, resources(`"memory":"0"`, "")))
	s.try("pods", pod("class", `"priorityClassName":"system-node-critical"`, some))
	s.try("pods", pod("other-class", `"priorityClassName":"system-cluster-critical"`, some))
	abroad := func(selector string) string {
		return `"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"a","labelSelector":{},` + selector + `}}]}}`
	}
	s.try("pods", pod("abroad", abroad(`"namespaces":["x"]`), some))
	s.try("pods", pod("abroad", abroad(`"namespaceSelector":{}`), some))
	s.try("pods", pod("home", abroad(`"mismatchLabelKeys":null`), some))
	s.brief("pods", pod("kept", "", some))
	s.create("pods", pod("counted", "", some))
	s.status("e-count")
	s.status("f-limits")
}
