package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// definitions are CustomResourceDefinitions by their names.
type definitions map[string]*apiextensionsv1.CustomResourceDefinition

// mostDefinitions is how large a file of definitions may be, in bytes.
const mostDefinitions = 64 << 20

// readDefinitions reads the definitions of a file, as it is or in a revision of git.
// What else is in it does not matter.
func readDefinitions(ctx context.Context, file, revision string) (definitions, error) {
	text, err := readRevision(ctx, file, revision)
	if err == nil && len(text) > mostDefinitions {
		err = fmt.Errorf("%s has more than %d bytes", file, mostDefinitions)
	}
	if err != nil {
		return nil, err
	}
	out := definitions{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var kind metav1.TypeMeta
		if err == nil {
			err = yaml.Unmarshal(document, &kind)
		}
		if err == nil && kind.Kind == "CustomResourceDefinition" && kind.APIVersion == apiextensionsv1.SchemeGroupVersion.String() {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			err = yaml.Unmarshal(document, crd)
			out[crd.Name] = crd
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
}

// readRevision reads a file, as it is or in a revision of git.
func readRevision(ctx context.Context, file, revision string) ([]byte, error) {
	if revision == "" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		return io.ReadAll(io.LimitReader(f, mostDefinitions+1))
	}
	if strings.HasPrefix(revision, "-") {
		return nil, fmt.Errorf("%q is no revision", revision)
	}
	git := exec.CommandContext(ctx, "git", "-C", filepath.Dir(file), "cat-file", "blob", revision+":./"+filepath.Base(file))
	text, err := git.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("%s in %s: %s", file, revision, bytes.TrimSpace(failed.Stderr))
	}
	return text, err
}
