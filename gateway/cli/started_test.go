package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// What serve says to type next is there to be typed: by its absolute path the kubeconfig,
// and the program as it was called, or run by go.
func TestWhatIsTypedNext(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "my data")
	for typed, want := range map[string]string{"./wasmgate": "./wasmgate", "/opt/my tools/wasmgate": "'/opt/my tools/wasmgate'"} {
		if strings.Contains(os.Args[0], "go-build") {
			want = "go run ." // of a test that go runs
		}
		was := os.Args[0]
		os.Args[0] = typed
		var out bytes.Buffer
		printStarted(&out, options.Started{URL: "https://127.0.0.1:6443", Kubeconfig: filepath.Join(folder, "admin.kubeconfig"), DataDir: folder, Embedded: true})
		os.Args[0] = was
		for _, line := range []string{
			"wasmgate serves https://127.0.0.1:6443 (embedded etcd in " + folder + ")\n",
			"  export KUBECONFIG='" + folder + "/admin.kubeconfig'\n", "  " + want + " module push NAME FILE.wasm\n",
		} {
			if !strings.Contains(out.String(), line) {
				t.Errorf("%s is missing in\n%s", line, out.String())
			}
		}
	}
}
