package warnings

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// What became of sorts of volumes.
const (
	gone116 = "deprecated in v1.11, non-functional in v1.16+"
	gone122 = "deprecated in v1.16, non-functional in v1.22+"
	gone125 = "deprecated in v1.22, non-functional in v1.25+"
	gone126 = "deprecated in v1.25, non-functional in v1.26+"
	gone131 = "deprecated in v1.28, non-functional in v1.31+"
)

// volumes are about those of a pod.
func (t *told) volumes(at *field.Path, spec map[string]any) {
	all := list(spec, "volumes")
	for i, v := range all {
		of := func(name string) *field.Path { return at.Index(i).Child(spelled(name)) }
		t.deprecated(v, of, "photonPersistentDisk", gone116, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+",
			"scaleIO", gone122, "flocker", gone125, "storageos", gone125, "quobyte", gone125, "glusterfs", gone126)
		if claim := child(v, "ephemeral", "volumeClaimTemplate"); claim != nil {
			t.claim(of("ephemeral").Child("volumeClaimTemplate", "spec"), object.Child(claim, "spec"))
		}
		t.deprecated(v, of, "cephfs", gone131, "rbd", gone131)
	}
	for _, v := range all {
		t.paths(v)
	}
}

// spelled is a sort of volumes as kube-apiserver spells it here.
func spelled(name string) string {
	if name == "storageos" {
		return "storageOS"
	}
	return name
}

// file is where a volume puts something, and where that is from.
type file struct{ path, source string }

func (f file) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// paths are about files of a volume that get in each other's way.
func (t *told) paths(v map[string]any) {
	name := object.TextAt(v, "name")
	one := func(field, what string) {
		if from := object.Child(v, field); from != nil {
			t.overlaps(name, what, nil, files(from, ""))
		}
	}
	one("configMap", fmt.Sprintf("ConfigMap %q", object.TextAt(object.Child(v, "configMap"), "name")))
	one("secret", fmt.Sprintf("Secret %q", object.TextAt(object.Child(v, "secret"), "secretName")))
	one("downwardAPI", "DownwardAPI")
	var before []file
	for _, source := range list(object.Child(v, "projected"), "sources") {
		if len(source) == 0 {
			t.say("volume %q (Projected) has no sources provided", name)
			continue
		}
		before = t.overlaps(name, "Projected", before, projected(source))
	}
}

// projected are the files of one source of a projected volume.
func projected(source map[string]any) []file {
	if from := object.Child(source, "configMap"); from != nil && from["items"] != nil {
		return files(from, fmt.Sprintf("ConfigMap %q", object.TextAt(from, "name")))
	}
	if from := object.Child(source, "secret"); from != nil && from["items"] != nil {
		return files(from, fmt.Sprintf("Secret %q", object.TextAt(from, "name")))
	}
	if from := object.Child(source, "downwardAPI"); from != nil && from["items"] != nil {
		return files(from, "DownwardAPI")
	}
	if from := object.Child(source, "serviceAccountToken"); from != nil {
		return []file{{object.TextAt(from, "path"), "ServiceAccountToken"}}
	}
	if from := object.Child(source, "clusterTrustBundle"); from != nil {
		name, named := from["name"].(string)
		if !named {
			name = object.TextAt(from, "signerName")
		}
		return []file{{object.TextAt(from, "path"), fmt.Sprintf("ClusterTrustBundle %q", name)}}
	}
	var all []file
	from := object.Child(source, "podCertificate")
	for _, c := range [][2]string{{"certificateChainPath", "PodCertificate chain"}, {"keyPath", "PodCertificate key"}, {"credentialBundlePath", "PodCertificate credential bundle"}} {
		if path := object.TextAt(from, c[0]); path != "" {
			all = append(all, file{path, c[1]})
		}
	}
	return all
}

// files are the items of a source.
func files(from map[string]any, source string) []file {
	var all []file
	for _, item := range list(from, "items") {
		all = append(all, file{object.TextAt(item, "path"), source})
	}
	return all
}

// overlaps warns of those of which one is, or would be below, one before it, and
// returns all of them, as far as they are compared.
func (t *told) overlaps(volume, what string, before, these []file) []file {
	for _, f := range these {
		f.path = strings.TrimRight(f.path, "/")
		for _, b := range before {
			if f.path != "" && b.path != "" && (strings.HasPrefix(b.path+"/", f.path+"/") || strings.HasPrefix(f.path+"/", b.path+"/")) {
				t.say("volume %q (%s): overlapping paths: %s with %s", volume, what, f, b)
			}
		}
		if len(before) < mostCompared {
			before = append(before, f)
		}
	}
	return before
}

func aboutVolume(t *told, obj, _ map[string]any) {
	spec := object.Child(obj, "spec")
	t.deprecated(annotations(obj), func(name string) *field.Path { return field.NewPath("metadata", "annotations").Key(name) },
		"volume.beta.kubernetes.io/storage-class", `deprecated since v1.8; use "storageClassName" attribute instead`,
		"volume.beta.kubernetes.io/mount-options", `deprecated since v1.31; use "mountOptions" attribute instead`)
	if spec["persistentVolumeReclaimPolicy"] == "Recycle" {
		t.say("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	for i, term := range list(child(spec, "nodeAffinity", "required"), "nodeSelectorTerms") {
		t.term(field.NewPath("spec", "nodeAffinity", "required", "nodeSelectorTerms").Index(i), term, false)
	}
	t.deprecated(spec, func(name string) *field.Path { return field.NewPath("spec", spelled(name)) }, "cephfs", gone131, "photonPersistentDisk", gone116, "scaleIO", gone122, "storageos", gone125, "glusterfs", gone126, "rbd", gone131)
}

func aboutClaim(t *told, obj, _ map[string]any) {
	t.deprecated(annotations(obj), func(name string) *field.Path { return field.NewPath("metadata", "annotations").Key(name) },
		"volume.beta.kubernetes.io/storage-class", `deprecated since v1.8; use "storageClassName" attribute instead`)
	t.claim(field.NewPath("spec"), object.Child(obj, "spec"))
}

// claim is about the spec of a claim.
func (t *told) claim(at *field.Path, spec map[string]any) {
	resources := object.Child(spec, "resources")
	t.fractions(at.Child("resources", "requests"), object.Child(resources, "requests"), "storage")
	t.fractions(at.Child("resources", "limits"), object.Child(resources, "limits"), "storage")
}

// fractions are about parts of bytes.
func (t *told) fractions(at *field.Path, of map[string]any, names ...string) {
	for _, name := range names {
		text, _ := of[name].(string)
		if !strings.ContainsAny(text, "munpe.") {
			continue // as most: a whole number
		}
		if q, ok := read(text); ok && q.MilliValue()%1000 != 0 {
			t.say("%s: fractional byte value %q is invalid, must be an integer", at.Key(name), q.String())
		}
	}
}
