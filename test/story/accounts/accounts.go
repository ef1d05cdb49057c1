// Package accounts owns stories of which accounts pods run as: what the admission
// plugin ServiceAccount gives new pods, and which it refuses. No controller makes
// accounts in them.
//
// It must not know how a server comes to its answer.
package accounts

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table.
const Table = "accounts"

// Collections are the kinds that stories create objects of.
var Collections = []string{"pods", "serviceaccounts"}

// Stories are all of them.
func Stories() (all []story.Story) {
	for _, one := range []struct {
		name string
		tell func(*scene)
	}{
		{"pods and the accounts they name", named},
		{"pods and the tokens of accounts", tokens},
		{"pods and the secrets of accounts", secrets},
		{"pods that mirror others", mirrors},
	} {
		s := &scene{Story: story.Story{Name: one.name}}
		s.Base = Namespace(s.Story)
		s.Add(story.Step{Method: "POST", Path: "/api/v1/namespaces", Body: `{"metadata":{"name":"` + strings.TrimPrefix(s.Base, "/api/v1/namespaces/") + `"}}`, Brief: true})
		one.tell(s)
		s.Add(story.Step{Method: "DELETE", Path: s.Base, Brief: true})
		all = append(all, s.Story)
	}
	return all
}

// Namespace is the path of a story's namespace.
func Namespace(s story.Story) string {
	return "/api/v1/namespaces/acc-" + strings.SplitN(s.Group(), ".", 2)[0]
}

// scene is a story that is being written, in a namespace of its own.
type scene struct{ story.Story }

// account makes one; rest is what it has beside its name.
func (s *scene) account(name, metadata, rest string) {
	s.Add(story.Step{Method: "POST", Path: s.Base + "/serviceaccounts", Body: `{"metadata":{"name":"` + name + `"` + metadata + `}` + rest + `}`, Brief: true})
}

// volume is one by whose name others take it for that of the token, so that no name is
// made at random.
const volume = `{"name":"kube-api-access-x","emptyDir":{}}`

// try has a pod created and not kept.
func (s *scene) try(metadata, spec string) {
	if !strings.Contains(spec, `"containers"`) {
		spec += `,"containers":[{"name":"c","image":"i"}]`
	}
	if !strings.Contains(spec, `"volumes"`) {
		spec += `,"volumes":[` + volume + `]`
	}
	s.Add(story.Step{Method: "POST", Path: s.Base + "/pods?dryRun=All", Body: `{"metadata":{"name":"p"` + metadata + `},"spec":{` + strings.TrimPrefix(spec, ",") + `}}`})
}

func named(s *scene) {
	s.try("", ``)
	s.try("", `"serviceAccountName":"own"`)
	s.try("", `"serviceAccount":"own"`)
	s.account("default", "", "")
	s.try("", ``)
	s.try("", `"serviceAccountName":""`)
	s.account("own", "", `,"imagePullSecrets":[{"name":"one"},{"name":"two"}]`)
	s.try("", `"serviceAccountName":"own"`)
	s.try("", `"serviceAccount":"own"`)
	s.try("", `"serviceAccountName":"own","serviceAccount":"default"`)
	s.try("", `"serviceAccountName":"own","imagePullSecrets":[{"name":"three"}]`)
	s.try("", `"serviceAccountName":"own","imagePullSecrets":[]`)
	s.try("", `"serviceAccountName":"Odd Name"`)
	s.Add(story.Step{Method: "POST", Path: s.Base + "/pods?dryRun=All", Body: `{"metadata":{"generateName":"p-"},"spec":{"serviceAccountName":"none","containers":[{"name":"c","image":"i"}]}}`})
	s.Add(story.Step{Method: "POST", Path: s.Base + "/pods?dryRun=All", Body: `{"metadata":{"name":"p"}}`})
	s.Add(story.Step{Method: "POST", Path: s.Base + "/pods?dryRun=All", Body: `{"metadata":{"name":"p"},"spec":{}}`})
}

func tokens(s *scene) {
	const mounted = `"volumeMounts":[{"name":"kube-api-access-x","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]`
	s.account("default", "", "")
	s.account("no", "", `,"automountServiceAccountToken":false`)
	s.account("yes", "", `,"automountServiceAccountToken":true`)
	for _, account := range []string{"default", "no", "yes"} {
		for _, said := range []string{"", `,"automountServiceAccountToken":false`, `,"automountServiceAccountToken":true`} {
			s.try("", `"serviceAccountName":"`+account+`"`+said)
		}
	}
	s.try("", `"initContainers":[{"name":"i","image":"i"}],"containers":[{"name":"c","image":"i"},{"name":"d","image":"i",`+mounted+`}]`)
	s.try("", `"initContainers":[{"name":"i","image":"i",`+mounted+`}],"containers":[{"name":"c","image":"i",`+mounted+`}]`)
	s.try("", `"volumes":[{"name":"other","emptyDir":{}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"other","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]`)
	s.try("", `"volumes":[`+volume+`,{"name":"kube-api-access-y","emptyDir":{}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"kube-api-access-y","mountPath":"/a"}]}]`)
	s.try("", `"volumes":[{"name":"kube-api-access-x","secret":{"secretName":"t"}}]`)
}

// enforced is the annotation of an account whose pods may only use its secrets.
const enforced = `,"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}`

func secrets(s *scene) {
	const has = `,"secrets":[{"name":"known"}],"imagePullSecrets":[{"name":"pull"}]`
	s.account("strict", enforced, has)
	s.account("lax", strings.Replace(enforced, `"true"`, `"maybe"`, 1), has)
	env := func(name string) string {
		return `"env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"` + name + `","key":"k"}}}]`
	}
	from := func(name string) string { return `"envFrom":[{"secretRef":{"name":"` + name + `"}}]` }
	for _, account := range []string{"strict", "lax"} {
		for _, name := range []string{"known", "other"} {
			as := `"serviceAccountName":"` + account + `",`
			s.try("", as+`"volumes":[`+volume+`,{"name":"v","secret":{"secretName":"`+name+`"}}]`)
			s.try("", as+`"containers":[{"name":"c","image":"i",`+env(name)+`}]`)
			s.try("", as+`"containers":[{"name":"c","image":"i",`+from(name)+`}]`)
			s.try("", as+`"initContainers":[{"name":"i","image":"i",`+env(name)+`}]`)
			s.try("", as+`"initContainers":[{"name":"i","image":"i",`+from(name)+`}]`)
			s.try("", as+`"imagePullSecrets":[{"name":"`+name+`"}]`)
			s.try("", as+`"imagePullSecrets":[{"name":"pull"}]`)
		}
		pod := s.Base + "/pods/" + account
		s.Add(story.Step{Method: "POST", Path: s.Base + "/pods", Brief: true, Body: `{"metadata":{"name":"` + account + `"},"spec":{"serviceAccountName":"` + account + `","containers":[{"name":"c","image":"i"}]}}`})
		for _, more := range []string{env("known"), env("other"), from("known"), from("other")} {
			if account == "strict" && strings.Contains(more, "other") {
				continue // kube-apiserver's refusal says 500
			}
			s.Add(story.Step{
				Method: "PATCH", Path: pod + "/ephemeralcontainers?dryRun=All", Type: "application/strategic-merge-patch+json", Brief: true,
				Body: `{"spec":{"ephemeralContainers":[{"name":"e","image":"i",` + more + `}]}}`,
			})
		}
		s.Add(story.Step{Method: "PATCH", Path: pod + "?dryRun=All", Type: story.MergePatch, Body: `{"metadata":{"labels":{"a":"b"}}}`, Brief: true})
		s.Add(story.Step{Method: "DELETE", Path: pod + "?gracePeriodSeconds=0", Brief: true})
	}
}

func mirrors(s *scene) {
	const mirror = `,"annotations":{"kubernetes.io/config.mirror":"x"}`
	s.account("default", "", "")
	s.try(mirror, ``)
	s.try(mirror, `"serviceAccountName":"default"`)
	s.try(mirror, `"imagePullSecrets":[{"name":"x"}]`)
	s.try(mirror, `"nodeSelector":{"secret":"x"}`)
	for _, v := range []string{
		`"secret":{"secretName":"x"}`, `"projected":{"sources":[{"secret":{"name":"x"}}]}`, `"projected":{"sources":[{"serviceAccountToken":{"path":"p"}}]}`,
		`"projected":{"sources":[{"configMap":{"name":"x"}}]}`, `"azureFile":{"secretName":"x","shareName":"s"}`, `"cephfs":{"monitors":["m"],"secretRef":{"name":"x"}}`,
		`"cephfs":{"monitors":["m"]}`, `"csi":{"driver":"d.example.com","nodePublishSecretRef":{"name":"x"}}`, `"csi":{"driver":"d.example.com","volumeAttributes":{"secret":"x"}}`,
		`"flexVolume":{"driver":"a/b","secretRef":{"name":"x"},"options":{"secret":"y"}}`, `"iscsi":{"targetPortal":"1.2.3.4","iqn":"iqn.2001-04.com.example:a","lun":1,"secretRef":{"name":"x"}}`,
	} {
		s.try(mirror, `"volumes":[{"name":"v",`+v+`}]`)
	}
	s.try(mirror, `"containers":[{"name":"c","image":"i","env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"x","key":"k"}}}]}]`)
	s.try(mirror, `"containers":[{"name":"c","image":"i","envFrom":[{"secretRef":{"name":"x"}}]}]`)
	s.try(mirror, `"containers":[{"name":"c","image":"i","envFrom":[{"configMapRef":{"name":"x"}}]}]`)
	s.try(mirror, `"initContainers":[{"name":"i","image":"i","envFrom":[{"secretRef":{"name":"x"}}]}]`)
}
