package standards

import "github.com/wasmgate/wasmgate/test/story"

const (
	storageClasses = "/apis/storage.k8s.io/v1/storageclasses"
	ingressClasses = "/apis/networking.k8s.io/v1/ingressclasses"
)

func storageClass(name, annotations, more string) string {
	return `{"metadata":{"name":"` + name + `","annotations":{` + annotations + `}},"provisioner":"example.com/p"` + more + `}`
}

// claim is a claim, with more in its metadata and its spec.
func claim(metadata, spec string) string {
	return `{"metadata":{"name":"c"` + metadata + `},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}` + spec + `}}`
}

// ingress is an Ingress likewise.
func ingress(metadata, spec string) string {
	return `{"metadata":{"name":"i"` + metadata + `},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}` + spec + `}}`
}

func classes(s *scene) {
	tryIngress := func(body string) {
		s.Add(story.Step{Method: "POST", Path: "/apis/networking.k8s.io/v1/namespaces/" + s.ns + "/ingresses?dryRun=All", Body: body})
	}
	s.try("persistentvolumeclaims", claim("", ""))
	tryIngress(ingress("", ""))
	s.send("POST", storageClasses, storageClass("std-b", `"storageclass.beta.kubernetes.io/is-default-class":"true"`, ""))
	s.awaits(s.Base+"/persistentvolumeclaims?dryRun=All", claim("", ""), `"storageClassName":"std-b"`)
	for _, c := range []string{
		claim("", ""), claim("", `,"storageClassName":""`), claim("", `,"storageClassName":"other"`),
		claim(`,"annotations":{"volume.beta.kubernetes.io/storage-class":"old"}`, ""), claim(`,"annotations":{"volume.beta.kubernetes.io/storage-class":""}`, ""),
	} {
		s.try("persistentvolumeclaims", c)
	}
	s.send("POST", ingressClasses, `{"metadata":{"name":"std-a","annotations":{"ingressclass.kubernetes.io/is-default-class":"True"}},"spec":{"controller":"example.com/c"}}`)
	s.send("POST", ingressClasses, `{"metadata":{"name":"std-b","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},"spec":{"controller":"example.com/c"}}`)
	s.awaits("/apis/networking.k8s.io/v1/namespaces/"+s.ns+"/ingresses?dryRun=All", ingress("", ""), `"ingressClassName":"std-b"`)
	for _, i := range []string{ingress("", ""), ingress("", `,"ingressClassName":"other"`), ingress(`,"annotations":{"kubernetes.io/ingress.class":""}`, "")} {
		tryIngress(i)
	}
	s.send("DELETE", storageClasses+"/std-b", "")
	s.send("DELETE", ingressClasses+"/std-a", "")
	s.send("DELETE", ingressClasses+"/std-b", "")
}

// awaits has the last step wait until a body that is sent to a path is answered with
// a text.
func (s *scene) awaits(path, body, until string) {
	s.Steps[len(s.Steps)-1].Await = &story.Step{Method: "POST", Path: path, Type: story.JSON, Body: body, Until: until}
}

func growth(s *scene) {
	s.send("POST", storageClasses, storageClass("std-grows", "", `,"allowVolumeExpansion":true`))
	s.send("POST", storageClasses, storageClass("std-stays", "", `,"allowVolumeExpansion":false`))
	for _, class := range []string{`"std-grows"`, `"std-stays"`, `"std-none"`, `""`} {
		s.send("POST", s.Base+"/persistentvolumeclaims", claim("", `,"volumeName":"v","storageClassName":`+class))
		resize := func(size string) {
			s.Add(story.Step{Method: "PATCH", Path: s.Base + "/persistentvolumeclaims/c?dryRun=All", Type: story.MergePatch, Body: `{"spec":{"resources":{"requests":{"storage":"` + size + `"}}}}`})
		}
		s.Add(story.Step{Method: "PATCH", Path: s.Base + "/persistentvolumeclaims/c/status", Type: story.MergePatch, Body: `{"status":{"phase":"Bound","capacity":{"storage":"1Gi"}}}`, Brief: true})
		resize("1024Mi")
		resize("2Gi")
		s.Add(story.Step{Method: "PATCH", Path: s.Base + "/persistentvolumeclaims/c", Type: story.MergePatch, Body: `{"metadata":{"finalizers":null}}`, Brief: true})
		s.send("DELETE", s.Base+"/persistentvolumeclaims/c", "")
	}
	s.send("DELETE", storageClasses+"/std-grows", "")
	s.send("DELETE", storageClasses+"/std-stays", "")
}

func places(s *scene) {
	node := func(name, rest string) {
		s.Add(story.Step{Method: "POST", Path: "/api/v1/nodes", Body: `{"metadata":{"name":"` + name + `"` + rest + `}`})
	}
	node("std-1", `,"labels":{"topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r","other":"o"}}`)
	node("std-2", `},"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule","value":"v"},{"key":"a","effect":"NoExecute"}]}`)
	node("std-3", `},"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoExecute"}]}`)
	s.Add(story.Step{Method: "PATCH", Path: "/api/v1/nodes/std-1", Type: story.MergePatch, Body: `{"spec":{"taints":null}}`})
	for _, n := range []string{"std-1", "std-2", "std-none"} {
		s.try("pods", `{"metadata":{"name":"p","labels":{"topology.kubernetes.io/zone":"mine"}},"spec":{"nodeName":"`+n+`","containers":[`+plain+`]}}`)
		s.send("POST", s.Base+"/pods", pod(`"containers":[`+plain+`]`))
		s.Add(story.Step{Method: "POST", Path: s.Base + "/pods/p/binding", Body: `{"metadata":{"name":"p","labels":{"topology.kubernetes.io/region":"mine","x":"y"}},"target":{"kind":"Node","name":"` + n + `"}}`})
		s.Add(story.Step{Method: "GET", Path: s.Base + "/pods/p", Accept: bare})
		s.send("DELETE", s.Base+"/pods/p?gracePeriodSeconds=0", "")
	}
	for _, n := range []string{"std-1", "std-2", "std-3"} {
		s.send("DELETE", "/api/v1/nodes/"+n, "")
	}
}

func services(s *scene) {
	const first = `{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.201","ports":[{"name":"a","port":80,"nodePort":30201},{"name":"b","port":81,"nodePort":30202}]}}`
	s.Add(story.Step{Method: "POST", Path: s.Base + "/services", Body: first})
	for _, spec := range []string{
		`"ports":[{"name":"a","port":8080},{"name":"b","port":81,"nodePort":0}]`,
		`"allocateLoadBalancerNodePorts":false,"ports":[{"name":"a","port":8080},{"name":"b","port":81,"nodePort":30202}]`,
		`"type":"NodePort","ports":[{"name":"a","port":8080,"nodePort":30203},{"name":"b","port":81,"nodePort":30202}]`,
		`"type":"ClusterIP","ports":[{"name":"a","port":8080,"nodePort":30203},{"name":"b","port":81,"nodePort":30204}]`,
		`"type":"ClusterIP"`,
		`"externalIPs":["1.2.3.4"]`,
		`"externalIPs":null`,
		`"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30205,"ports":[{"name":"a","port":8080,"nodePort":30203},{"name":"b","port":81,"nodePort":30202}]`,
		`"type":"ClusterIP"`,
		`"type":"ExternalName","externalName":"e.example.com"`,
	} {
		s.Add(story.Step{Method: "PATCH", Path: s.Base + "/services/s", Type: story.MergePatch, Body: `{"spec":{` + spec + `}}`})
	}
	s.Add(story.Step{Method: "POST", Path: s.Base + "/services?dryRun=All", Body: `{"metadata":{"name":"t"},"spec":{"type":"ExternalName","externalName":"e.example.com","internalTrafficPolicy":"Cluster"}}`})
	s.send("DELETE", s.Base+"/services/s", "")
}
