package builtin

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// everydayPod has what most pods have.
const everydayPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-7d9c5b8f6-x2x9z","namespace":"default","labels":{"app":"web","pod-template-hash":"7d9c5b8f6"}},
"spec":{"serviceAccountName":"web","terminationGracePeriodSeconds":30,"restartPolicy":"Always","dnsPolicy":"ClusterFirst","nodeSelector":{"kubernetes.io/os":"linux"},
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
"containers":[{"name":"web","image":"registry.example.com/web:1.2.3","ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],
"env":[{"name":"A","value":"b"},{"name":"POD","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"S","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
"resources":{"requests":{"cpu":"100m","memory":"128Mi"},"limits":{"cpu":"500m","memory":"256Mi"}},
"livenessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"periodSeconds":10,"timeoutSeconds":1,"successThreshold":1,"failureThreshold":3},
"readinessProbe":{"httpGet":{"path":"/readyz","port":"http","scheme":"HTTP"},"periodSeconds":10,"timeoutSeconds":1,"successThreshold":1,"failureThreshold":3},
"volumeMounts":[{"name":"config","mountPath":"/etc/web"},{"name":"tmp","mountPath":"/tmp"}],
"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"runAsNonRoot":true}}],
"volumes":[{"name":"config","configMap":{"name":"web","defaultMode":420}},{"name":"tmp","emptyDir":{}}]}}`

// BenchmarkPods measures what completing a pod, and its validation, take.
func BenchmarkPods(b *testing.B) {
	v := definitions(b)["pod"].Versions[0]
	tree := crdtest.Parse(b, []byte(everydayPod))
	b.Run("completed", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Shape.FromClient(runtime.DeepCopyJSON(tree), false); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("validated", func(b *testing.B) {
		o := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(tree)}
		if _, err := v.Shape.FromClient(o.Object, false); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if errs := v.Strategy.Validate(context.Background(), o, nil).Errors; len(errs) > 0 {
				b.Fatal(errs)
			}
		}
	})
}
