package e2e

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/models"
)

// TestModelsOfBuiltInKinds_RES10 compares what OpenAPI documents say of Kubernetes' types
// with what those of kube-apiserver do: names, types, what has to be sent, defaults, values
// and how lists are merged. What differs is listed with its reason.
func TestModelsOfBuiltInKinds_RES10(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("../recorded", models.Table)
	recording, err := os.ReadFile(filepath.Join(dir, models.Table+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(dir, "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	api := harness.Shared(t).API(t)
	ours, err := models.Tell(t.Context(), func(_ context.Context, path string) ([]byte, error) {
		return api.Get(path).Want(200).Body, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs, known := models.Parse(string(recording)), listed(string(list))
	if len(theirs) < 2500 {
		t.Fatalf("%d lines are recorded", len(theirs))
	}
	for _, key := range slices.Sorted(maps.Keys(joinedKeys(ours, theirs))) {
		if ours[key] == theirs[key] || field(key) && (ours[model(key)] == "" || theirs[model(key)] == "") {
			continue
		}
		difference := key + ": " + theirs[key] + " > " + ours[key]
		if !known[difference] {
			t.Errorf("differs without a reason: %s", difference)
		}
		delete(known, difference)
	}
	for _, line := range slices.Sorted(maps.Keys(known)) {
		t.Errorf("differs no longer: %s", line)
	}
}

// joinedKeys are the keys of both.
func joinedKeys(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// model is the model that a line is about, and field tells that it is about one of its fields.
func model(key string) string { name, _, _ := strings.Cut(key, " "); return name }

func field(key string) bool { return strings.Contains(key, " ") }
