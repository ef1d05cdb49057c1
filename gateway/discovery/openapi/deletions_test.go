package openapi

import "testing"

// Of a deletion it is said what is answered: of some kinds what was deleted, of others that
// it was.
func TestDeletionsSayWhatIsAnswered(t *testing.T) {
	const pod, status = "io.k8s.api.core.v1.Pod", "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
	docs := documents(t, builtins(t), nil)
	doc := v3(t, docs, corePath)
	_, two := version2(t, docs)
	for path, want := range map[string]string{
		"/api/v1/namespaces/{namespace}/pods/{name}": pod, "/api/v1/namespaces/{namespace}/pods": status,
		"/api/v1/namespaces/{namespace}/configmaps/{name}": status,
	} {
		for code, r := range doc.Paths.Paths[path].Delete.Responses.StatusCodeResponses {
			for media, content := range r.Content {
				if got := content.Schema.Ref.String(); got != "#/components/schemas/"+want {
					t.Errorf("%s, %d, %s: %s", path, code, media, got)
				}
			}
		}
		answered := 0
		for code, r := range two.Paths.Paths[path].Delete.Responses.StatusCodeResponses {
			if r.Schema == nil {
				continue
			}
			if answered++; r.Schema.Ref.String() != "#/definitions/"+want {
				t.Errorf("version 2, %s, %d: %s", path, code, r.Schema.Ref.String())
			}
		}
		if answered == 0 {
			t.Errorf("version 2, %s: nothing is said", path)
		}
	}
}
