package refusals

import (
	"encoding/json"
	"fmt"
	"os"
)

// File is where the recording is, from the module's root.
const File = "gateway/gatewaytest/refusals/testdata/kube-apiserver.json"

// Load reads a recording: kube-apiserver's replies by the requests' names.
func Load(path string) (map[string]Reply, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := map[string]Reply{}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}
