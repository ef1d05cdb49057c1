package standards

import "github.com/wasmgate/wasmgate/test/story"

// good is a container that the strictest level takes, and what a pod says of it.
const (
	good   = `{"name":"c","image":"i","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}`
	asUser = `"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}}`
	plain  = `{"name":"c","image":"i"}`
)

// specs are those of pods that one level or another does not take.
var specs = []string{
	`"containers":[` + plain + `]`,
	asUser + `,"containers":[` + good + `]`,
	asUser + `,"containers":[` + good + `,{"name":"second","image":"i"}]`,
	asUser + `,"initContainers":[{"name":"first","image":"i"}],"containers":[` + good + `]`,
	`"hostNetwork":true,"hostPID":true,"hostIPC":true,"containers":[` + plain + `]`,
	`"hostPID":true,"containers":[` + plain + `]`,
	`"containers":[{"name":"c","image":"i","securityContext":{"capabilities":{"add":["SYS_ADMIN","CHOWN"]}}}]`,
	`"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":8080}]}]`,
	`"containers":[` + plain + `],"volumes":[{"name":"v","hostPath":{"path":"/"}}]`,
	asUser + `,"containers":[` + good + `],"volumes":[{"name":"v","hostPath":{"path":"/"}},{"name":"n","nfs":{"server":"s","path":"/"}},{"name":"e","emptyDir":{}}]`,
	`"securityContext":{"runAsUser":0,"runAsNonRoot":true,"seccompProfile":{"type":"Unconfined"}},"containers":[` + good + `]`,
	`"securityContext":{"sysctls":[{"name":"kernel.msgmax","value":"1"}]},"containers":[` + plain + `]`,
	`"securityContext":{"seLinuxOptions":{"type":"spc_t","user":"u"}},"containers":[` + plain + `]`,
	`"containers":[{"name":"c","image":"i","securityContext":{"procMount":"Unmasked"}}],"hostUsers":false`,
	`"os":{"name":"windows"},"securityContext":{"runAsNonRoot":true},"containers":[` + plain + `]`,
}

func levels(s *scene) {
	for _, level := range []string{"baseline", "restricted"} {
		s.level("enforce", level, `violates PodSecurity \"`+level)
		for _, spec := range specs {
			s.try("pods", pod(spec))
		}
	}
	s.level("enforce-version", "v1.0", `restricted:v1.0`)
	s.try("pods", pod(specs[0]))
	s.level("enforce-version", "latest", `restricted:latest`)
	s.Add(story.Step{Method: "POST", Path: s.Base + "/pods", Body: pod(specs[1]), Brief: true})
	s.Add(story.Step{Method: "PATCH", Path: s.Base + "/pods/p", Type: story.MergePatch, Body: `{"metadata":{"labels":{"a":"b"}}}`, Brief: true})
	s.Add(story.Step{Method: "PATCH", Path: s.Base + "/pods/p/ephemeralcontainers?dryRun=All", Type: story.MergePatch, Body: `{"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`})
	s.Add(story.Step{Method: "DELETE", Path: s.Base + "/pods/p?gracePeriodSeconds=0", Brief: true})
}

func labels(s *scene) {
	for _, l := range []string{
		`"pod-security.kubernetes.io/enforce":"none"`, `"pod-security.kubernetes.io/enforce":""`, `"pod-security.kubernetes.io/audit":"Restricted"`,
		`"pod-security.kubernetes.io/enforce-version":"1.30"`, `"pod-security.kubernetes.io/warn":"x","pod-security.kubernetes.io/warn-version":"v2"`,
		`"pod-security.kubernetes.io/enforce":"baseline","pod-security.kubernetes.io/enforce-version":"v1.99"`, `"pod-security.kubernetes.io/other":"x"`,
	} {
		s.Add(story.Step{Method: "POST", Path: "/api/v1/namespaces?dryRun=All", Body: `{"metadata":{"name":"std-new","labels":{` + l + `}}}`})
		s.Add(story.Step{Method: "PATCH", Path: s.Base + "?dryRun=All", Type: story.MergePatch, Body: `{"metadata":{"labels":{` + l + `}}}`})
	}
}

func templates(s *scene) {
	s.level("warn", "restricted", "")
	s.level("enforce", "baseline", `violates PodSecurity \"baseline`)
	const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[` + plain + `]`
	const selector = `"selector":{"matchLabels":{"a":"b"}},`
	apps := func(plural, more string) {
		s.Add(story.Step{Method: "POST", Path: "/apis/apps/v1/namespaces/" + s.ns + "/" + plural + "?dryRun=All", Body: `{"metadata":{"name":"x"},"spec":{` + selector + more + template + `}}}}`})
	}
	apps("deployments", "")
	apps("replicasets", "")
	apps("daemonsets", "")
	apps("statefulsets", `"serviceName":"s",`)
	batch := func(plural, spec string) {
		s.Add(story.Step{Method: "POST", Path: "/apis/batch/v1/namespaces/" + s.ns + "/" + plural + "?dryRun=All", Body: `{"metadata":{"name":"x"},"spec":{` + spec + `}}`})
	}
	const once = `"template":{"spec":{"restartPolicy":"Never","containers":[` + plain + `]}}`
	batch("jobs", `"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[`+plain+`]}}`)
	batch("cronjobs", `"schedule":"* * * * *","jobTemplate":{"spec":{`+once+`}}`)
	s.try("podtemplates", `{"metadata":{"name":"x"},"template":{"spec":{"hostIPC":true,"containers":[`+plain+`]}}}`)
	s.try("replicationcontrollers", `{"metadata":{"name":"x"},"spec":{"selector":{"a":"b"},`+template+`}}}}`)
	s.try("replicationcontrollers", `{"metadata":{"name":"x"},"spec":{"selector":{"a":"b"}}}`)
	s.try("pods", pod(specs[0]))
}

func present(s *scene) {
	for i, spec := range []string{specs[0], specs[0], specs[5], specs[1]} {
		s.Add(story.Step{Method: "POST", Path: s.Base + "/pods", Body: `{"metadata":{"name":"p` + string(rune('a'+i)) + `"},"spec":{` + spec + `}}`, Brief: true})
	}
	for range 5 {
		s.try("pods", pod(specs[5])) // meanwhile the pods are seen
	}
	for _, l := range []string{`"pod-security.kubernetes.io/enforce":"baseline"`, `"pod-security.kubernetes.io/enforce":"restricted"`, `"pod-security.kubernetes.io/enforce":"baseline"`, `"pod-security.kubernetes.io/enforce-version":"v1.20"`} {
		s.label(l)
		// What the server reads next is not older.
		s.Add(story.Step{Method: "GET", Path: s.Base, Brief: true})
		s.Add(story.Step{Method: "GET", Path: "/api/v1/namespaces", Brief: true})
	}
	for _, name := range []string{"pa", "pb", "pc", "pd"} {
		s.send("DELETE", s.Base+"/pods/"+name+"?gracePeriodSeconds=0", "")
	}
}
