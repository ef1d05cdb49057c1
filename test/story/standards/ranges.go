package standards

import "github.com/wasmgate/wasmgate/test/story"

const serviceCIDRs = "/apis/networking.k8s.io/v1/servicecidrs"

// ranges has services with addresses of a further range, while it is ready and there.
func ranges(s *scene) {
	service := func(name, ip string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"clusterIP":"` + ip + `","ports":[{"port":80}]}}`
	}
	// make creates a service, once the reply has a text: other gateways learn of ranges later.
	make := func(name, ip, until string) {
		s.Add(story.Step{Method: "POST", Path: s.Base + "/services", Body: service(name, ip), Until: until})
	}
	ready := func(status string) {
		s.Add(story.Step{
			Method: "PATCH", Path: serviceCIDRs + "/std-extra/status", Type: story.MergePatch, Brief: true,
			Body: `{"status":{"conditions":[{"type":"Ready","status":"` + status + `","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`,
		})
	}
	const given, refused = `"clusterIP":"192.168.77.`, "does not match the current range"
	make("a", "192.168.77.5", "")
	s.send("POST", serviceCIDRs, `{"metadata":{"name":"std-extra"},"spec":{"cidrs":["192.168.77.0/28"]}}`)
	make("a", "192.168.77.5", given)
	make("b", "192.168.77.5", "")
	make("c", "192.168.77.1", "")
	for _, ip := range []string{"192.168.77.0", "192.168.77.15", "192.168.77.16", "192.168.76.255"} {
		make("d", ip, "")
	}
	ready("False")
	make("a", "192.168.77.5", refused)
	make("e", "192.168.77.6", "")
	s.Add(story.Step{Method: "PATCH", Path: s.Base + "/services/a", Type: story.MergePatch, Body: `{"spec":{"ports":[{"port":81}]}}`})
	ready("True")
	make("e", "192.168.77.6", given)
	// Before the range goes, with which kube-apiserver forgets to give addresses back.
	for _, name := range []string{"a", "c", "e"} {
		s.send("DELETE", s.Base+"/services/"+name, "")
	}
	s.send("DELETE", serviceCIDRs+"/std-extra", "")
	make("e", "192.168.77.6", refused)
	make("f", "192.168.77.8", "")
}
