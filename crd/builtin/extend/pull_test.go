package extend_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Images are pulled always that may be others later, as kube-apiserver 1.36.3 reads their names.
func TestWhenImagesArePulled(t *testing.T) {
	hex := strings.Repeat("a", 63)
	d := builtintest.Definitions(t)["podtemplate"]
	for image, always := range map[string]bool{
		"nginx": true, "nginx:latest": true, "nginx:1": false, "nginx:LATEST": false, "nginx:" + strings.Repeat("t", 129): false,
		"nginx@sha256:" + hex + "a": false, "nginx:latest@sha256:" + hex + "a": true, "nginx:latest@sha256:" + hex: false, "nginx:latest@md5:" + hex[:32]: false, "nginx:latest@sha256:" + hex + "A": false,
		"MyImage": false, "Foo/bar": true, "foo/Bar": false, "a_b/c": true, "a__b": true, "a___b": false, "a--b": true, "a..b": false, "-a": false, "a/": false, "a:": false, "a b": false, "a:latest ": false,
		"localhost:5000/x": true, "x:5000/y:1": false, "[::1]:5000/x": true, "A.b/c:latest": true, "a.b_c/d": true, "docker.io/nginx": true, hex + "a": false, hex: true, "$(X)": false,
	} {
		want := "IfNotPresent"
		if always {
			want = "Always"
		}
		spec := object.Child(crdtest.Shaped(t, d, `{"metadata":{"name":"x"},"template":{"spec":{"containers":[{"name":"c","image":"`+image+`"}],"volumes":[{"name":"v","image":{"reference":"`+image+`"}}]}}}`).Object, "template", "spec")
		c, v := object.Objects(spec["containers"])[0], object.Objects(spec["volumes"])[0]
		if got := object.TextAt(c, "imagePullPolicy"); got != want || object.TextAt(v, "image", "pullPolicy") != want {
			t.Errorf("%s: %s, and %s as a volume; want %s", image, got, object.TextAt(v, "image", "pullPolicy"), want)
		}
	}
}
