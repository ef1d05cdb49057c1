package api

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

const takesGzip = "Accept-Encoding: gzip"

// unzipped is the body of a reply that has to be compressed.
func (r *answer) unzipped() string {
	r.t.Helper()
	if r.header("Content-Encoding") != "gzip" || r.header("Vary") != "Accept-Encoding" {
		r.t.Fatalf("%d, %d bytes, with %v", r.Code, len(r.body), r.Headers)
	}
	in, err := gzip.NewReader(strings.NewReader(r.body))
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := io.ReadAll(in)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out)
}

func (r *answer) plain() string {
	r.t.Helper()
	if r.header("Content-Encoding") != "" || r.header("Vary") != "" {
		r.t.Fatalf("compressed: %d, %d bytes, with %v", r.Code, len(r.body), r.Headers)
	}
	return r.body
}

func roomy(c *Setup) { c.MaxBodyBytes = 1 << 20 }

// A list is the same compressed and plain, in every encoding and selection, the
// first time and the second, and after changes anywhere in it.
func TestLargeListsAreCompressed_LIST01_MT14(t *testing.T) {
	w := newWorld(t, roomy)
	const many = 300
	for i := range many {
		w.do("POST", configMaps, configMap(fmt.Sprintf("m%03d", i), strings.Repeat(fmt.Sprint(i), 400))).want(201, "")
		w.do("POST", widgets, a(fmt.Sprintf("w%03d", i), fmt.Sprintf(`"size":%d`, i))).want(201, "")
	}
	check := func() {
		t.Helper()
		for _, path := range []string{configMaps, widgets, "/apis/example.com/v1beta1/widgets", configMaps + "?limit=250", configMaps + "?labelSelector=l!=m150"} {
			for _, accept := range []string{
				"Accept: ", asMessage, "Accept: application/json" + partMeta + "List", asMessage + partMeta + "List",
				"Accept: application/json;g=meta.k8s.io;v=v1beta1;as=PartialObjectMetadataList",
			} {
				if !strings.HasPrefix(path, configMaps) && accept == asMessage {
					continue
				}
				plain := w.do("GET", path, "", accept).want(200, "").plain()
				for range 2 { // of what is listed again parts are kept
					if again := w.do("GET", path, "", accept).want(200, "").plain(); again != plain {
						t.Errorf("%s %s: %d bytes, and %d before", path, accept, len(again), len(plain))
					}
				}
				for range 2 {
					r := w.do("GET", path, "", accept, takesGzip).want(200, "")
					if len(plain) <= gzipLeast {
						if r.plain() != plain {
							t.Errorf("%s %s differs", path, accept)
						}
						continue
					}
					if got := r.unzipped(); got != plain {
						t.Errorf("%s %s: %d bytes for %d", path, accept, len(got), len(plain))
					}
					if len(r.body) > len(plain)/3 {
						t.Errorf("%s %s: %d bytes of %d", path, accept, len(r.body), len(plain))
					}
				}
			}
		}
	}
	check()
	for _, i := range []int{0, 1, 150, many - 1} {
		w.do("PATCH", configMaps+fmt.Sprintf("/m%03d", i), `{"data":{"k":"changed"}}`, "Content-Type: application/merge-patch+json").want(200, "")
	}
	w.do("DELETE", configMaps+"/m100", "").want(200, "")
	w.do("POST", configMaps, configMap("m1005", "new")).want(201, "")
	check()
	r := w.do("GET", widgets, "", "Accept: application/yaml", takesGzip).want(200, "")
	if r.unzipped() != w.do("GET", widgets, "", "Accept: application/yaml").plain() {
		t.Error("YAML differs")
	}
}

// What is small, or asked for otherwise, is not compressed; a watch never is.
func TestWhatIsNotCompressed(t *testing.T) {
	w := newWorld(t, roomy)
	w.do("POST", configMaps, configMap("one", strings.Repeat("x", 200<<10))).want(201, "")
	for _, asked := range []string{"", "br", "identity", "deflate, br", "gzip;q=0", "br, gzip; q=0.0", "gzipped"} {
		w.do("GET", configMaps, "", "Accept-Encoding: "+asked).want(200, "").plain()
		w.do("GET", configMaps+"/one", "", "Accept-Encoding: "+asked).want(200, "").plain()
	}
	for _, asked := range []string{"gzip", "br, gzip", "gzip;q=0.5, br", "deflate,gzip;q=x"} {
		list := w.do("GET", configMaps, "", "Accept-Encoding: "+asked).want(200, "").unzipped()
		if list != w.do("GET", configMaps, "").plain() {
			t.Errorf("%s: %.100s", asked, list)
		}
		if one := w.do("GET", configMaps+"/one", "", "Accept-Encoding: "+asked).want(200, "").unzipped(); one != w.do("GET", configMaps+"/one", "").plain() {
			t.Errorf("%s: %.100s", asked, one)
		}
	}
	w.do("GET", configMaps+"/one", "", takesGzip, "Accept: application/json"+partMeta).want(200, "").plain()
	w.Uncompressed = true
	w.do("GET", configMaps, "", takesGzip).want(200, "").plain()
	w.do("GET", configMaps+"/one", "", takesGzip).want(200, "").plain()
	w.Uncompressed = false
	f := w.watch(t, configMaps+"?watch=1", nil, takesGzip)
	f.want("ADDED", "one")
}

// The clients of people, and who asks, get JSON with lines.
func TestPrettyJSON_MT14(t *testing.T) {
	w := newWorld(t)
	w.do("POST", configMaps, configMap("one", "v")).want(201, "")
	for _, c := range []struct {
		query, agent, accept string
		pretty               bool
	}{
		{"", "", "", false}, {"", "kubectl/v1", "", false}, {"", "curl/8", "", true}, {"", "Wget/1", "", true}, {"", "Mozilla/5.0 (X11)", "", true},
		{"?pretty=1", "", "", true}, {"?pretty=true", "kubectl", "", true}, {"?pretty=x", "curl/8", "", false}, {"?pretty=0", "curl/8", "", false},
		{"?pretty=", "curl/8", "", true}, {"?pretty=", "", "", false}, {"?prettyx=1", "", "", false}, {"", "libcurl", "", false},
		{"", "", "application/json;pretty=1", true}, {"", "", "application/json;pretty=0", false}, {"?pretty=0", "", "application/json;pretty=1", true},
	} {
		for _, path := range []string{"", "/one", "/none"} {
			code := map[string]int{"/none": 404}[path]
			r := w.do("GET", configMaps+path+c.query, "", "User-Agent: "+c.agent, "Accept: "+c.accept).want(max(code, 200), "")
			if got := strings.HasPrefix(r.body, "{\n  \""); got != c.pretty {
				t.Errorf("%s%+v: %.40q", path, c, r.body)
			}
			r.tree()
		}
	}
	f := w.watch(t, configMaps+"?watch=1&pretty=1", nil) // a frame is a line
	f.want("ADDED", "one")
}
