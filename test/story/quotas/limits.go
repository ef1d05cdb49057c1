package quotas

import "github.com/wasmgate/wasmgate/test/story"

func defaults(s *scene) {
	s.limit("a", `{"type":"Container","default":{"cpu":"500m"},"defaultRequest":{"cpu":"0.1","memory":"64Mi"},"max":{"example.com/d":"4"},"min":{"ephemeral-storage":"1Ki"}}`)
	s.limit("b", `{"type":"Pod","max":{"cpu":"9"}}`)
	s.limited()
	const more = `"example.com/d":"1","ephemeral-storage":"2Ki"`
	s.try("pods", pod("none", "", `{}`))
	s.try("pods", pod("request", "", resources(`"cpu":"200m"`, "")))
	s.try("pods", pod("limit", "", resources("", `"cpu":"200m"`)))
	s.try("pods", pod("all", "", resources(`"cpu":"1","memory":"1Gi",`+more, `"cpu":"1","memory":"1Gi",`+more)))
	s.try("pods", pod("two", initial(`{}`), `{}`, resources(`"memory":"1Mi"`, "")))
	s.try("pods", `{"metadata":{"name":"annotated","annotations":{"kubernetes.io/limit-ranger":"mine","other":"x"}},"spec":{"serviceAccountName":"default","automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]}}`)
	s.try("replicationcontrollers", `{"metadata":{"name":"template"},"spec":{"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
}

func containers(s *scene) {
	s.limit("cpu", `{"type":"Container","min":{"cpu":"100m"},"max":{"cpu":"2","example.com/d":"2"},"default":{"example.com/d":"1"}}`)
	s.limit("memory", `{"type":"Container","maxLimitRequestRatio":{"memory":"1.5"}}`)
	s.limited()
	const memory, cpu = `"memory":"1Gi"`, `"cpu":"1"`
	for _, c := range []struct{ requests, limits string }{
		{"", memory}, {cpu, memory}, {`"cpu":"1m"`, memory}, {`"cpu":"99m"`, memory}, {`"cpu":"0.1"`, memory + `,"cpu":"2000m"`},
		{cpu, memory + `,"cpu":"2001m"`}, {`"cpu":"1m"`, memory + `,"cpu":"1m"`}, {cpu, cpu}, {cpu + "," + memory, cpu}, {cpu, cpu + "," + memory},
		{cpu + `,"memory":"1Gi"`, `"memory":"2Gi"`}, {cpu + `,"memory":"2Gi"`, `"memory":"3Gi"`}, {cpu + `,"memory":"0"`, `"memory":"3Gi"`}, {cpu + `,"memory":"3"`, `"memory":"5"`},
		{"", memory + `,"example.com/d":"3"`},
	} {
		s.try("pods", pod("one", "", resources(c.requests, c.limits)))
	}
	s.try("pods", pod("second", "", resources(cpu, memory), resources(`"cpu":"3"`, memory+`,"cpu":"3"`)))
	s.try("pods", pod("initial", initial(resources(`"cpu":"3"`, memory+`,"cpu":"3"`)), resources(cpu, memory)))
	s.try("pods", pod("both", "", resources(`"cpu":"3"`, memory+`,"cpu":"3"`), resources(`"cpu":"3"`, memory+`,"cpu":"3"`)))
}

func pods(s *scene) {
	s.limit("pod", `{"type":"Pod","min":{"cpu":"200m"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"4"}}`)
	s.limited()
	for _, c := range []struct{ requests, limits string }{
		{"", ""}, {"", `"cpu":"1"`}, {`"cpu":"1"`, ""}, {`"cpu":"1"`, `"cpu":"1"`}, {`"cpu":"0.2"`, `"cpu":"1"`}, {`"cpu":"0.05"`, `"cpu":"1"`}, {`"cpu":"1"`, `"cpu":"1.5"`},
	} {
		s.try("pods", pod("two", "", resources(c.requests, c.limits), resources(c.requests, c.limits)))
	}
	s.try("pods", pod("initial", initial(resources(`"cpu":"3"`, `"cpu":"3"`)), resources(`"cpu":"1"`, `"cpu":"1"`)))
	s.try("pods", pod("sidecar", `"initContainers":[{"name":"i0","image":"i","restartPolicy":"Always","resources":`+resources(`"cpu":"1"`, `"cpu":"1"`)+`}]`, resources(`"cpu":"1.5"`, `"cpu":"1.5"`)))
	s.try("pods", pod("whole", `"resources":`+resources(`"cpu":"3"`, `"cpu":"3"`), `{}`))
	s.try("pods", pod("whole", `"resources":`+resources(`"cpu":"1"`, `"cpu":"1"`), `{}`))
}

func claims(s *scene) {
	s.limit("claim", `{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"2Gi"}}`)
	s.await("1Gi")
	for _, storage := range []string{"1Gi", "1.5Gi", "2Gi", "1023Mi", "3Gi", "1"} {
		s.brief("persistentvolumeclaims?dryRun=All", claim("one", storage))
	}
	s.brief("persistentvolumeclaims", claim("kept", "1Gi"))
	s.Add(story.Step{Method: "PATCH", Path: s.in("persistentvolumeclaims/kept"), Type: story.MergePatch, Body: `{"metadata":{"labels":{"a":"b"}}}`, Brief: true})
}

// updates of pods are not asked about, and those of claims are.
func updates(s *scene) {
	s.create("pods", pod("before", "", `{}`))
	s.brief("persistentvolumeclaims", claim("before", "5Gi"))
	s.limit("all", `{"type":"Container","max":{"cpu":"2"},"default":{"cpu":"1"}},{"type":"PersistentVolumeClaim","max":{"storage":"2Gi"}}`)
	s.limited()
	label := `{"metadata":{"labels":{"a":"b"}}}`
	for _, what := range []string{"pods/before", "persistentvolumeclaims/before", "pods/before/status", "persistentvolumeclaims/before/status"} {
		s.Add(story.Step{Method: "PATCH", Path: s.in(what), Type: story.MergePatch, Body: label, Brief: true})
	}
	s.brief("pods", pod("sized", "", resources(`"cpu":"500m"`, "")))
	for _, cpu := range []string{"1500m", "3"} {
		s.Add(story.Step{Method: "PATCH", Path: s.in("pods/sized/resize"), Type: "application/strategic-merge-patch+json", Body: `{"spec":{"containers":[{"name":"c0","resources":{"limits":{"cpu":"` + cpu + `"}}}]}}`})
	}
	s.Add(story.Step{Method: "PATCH", Path: s.in("limitranges/all"), Type: story.MergePatch, Body: label})
}

// added is about a container that admission adds, which gets what it lacks.
func added(s *scene) {
	const registrations = "/apis/admissionregistration.k8s.io/v1/"
	s.limit("all", `{"type":"Container","default":{"cpu":"1"},"max":{"memory":"1Gi"}}`)
	s.limited()
	here := `"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"` + s.ns + `"}},"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]`
	for _, o := range []struct{ plural, spec string }{
		{"mutatingadmissionpolicies", `"matchConstraints":{` + here + `},"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{spec: Object.spec{containers: [Object.spec.containers{name: 'added', image: 'i'}]}}"}}]`},
		{"mutatingadmissionpolicybindings", `"policyName":"` + s.ns + `"`},
	} {
		s.Add(story.Step{Method: "POST", Path: registrations + o.plural, Body: `{"metadata":{"name":"` + s.ns + `"},"spec":{` + o.spec + `}}`, Brief: true})
	}
	s.Steps[len(s.Steps)-1].Await = &story.Step{Method: "POST", Path: s.in("pods?dryRun=All"), Type: story.JSON, Body: pod("await", "", `{}`), Until: `"name":"added"`}
	s.try("pods", pod("one", "", `{}`))
	for _, plural := range []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		s.Add(story.Step{Method: "DELETE", Path: registrations + plural + "/" + s.ns, Brief: true})
	}
}
