package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/cli/manifest"
)

// goldens are the golden files that samples have, each of one of them only.
type goldens struct {
	samples []string
	of      map[string]string
}

// claim gives a golden file to a sample. It refuses one that another sample has, or that
// is a sample itself: that would be written over, or compared with what is not its own.
func (g *goldens) claim(sample, file string) error {
	if other, taken := g.of[file]; taken {
		return fmt.Errorf("%s and %s have one golden file, %s: give the samples different names, or test them with different folders for --golden", other, sample, file)
	}
	g.of[file] = sample
	info, err := os.Stat(file)
	if err != nil {
		return nil // what is not there is no sample
	}
	for _, name := range g.samples {
		if is, err := os.Stat(name); err == nil && os.SameFile(info, is) {
			return fmt.Errorf("%s is a sample, and the golden file of %s: name a folder for --golden that has no samples", name, sample)
		}
	}
	return nil
}

// goldenFile is the golden file of a sample at a version.
func (c *tryCommand) goldenFile(sample, version string) string {
	base := strings.TrimSuffix(filepath.Base(sample), filepath.Ext(sample))
	return filepath.Join(c.golden, base+"."+version+".yaml")
}

// compare holds what was made of the samples in a file against the golden file, or
// writes that.
func (c *tryCommand) compare(sample, version string, made [][]byte) (testCase, error) {
	file := c.goldenFile(sample, version)
	is := testCase{Name: fmt.Sprintf("%s: %s is %s", sample, version, file), File: file}
	if c.update {
		return is, writeGolden(file, made)
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		is.Problem = "there is no such file; write it with --update"
		return is, nil
	case err != nil:
		return is, err
	}
	documents := manifest.Split(text)
	if len(documents) != len(made) {
		is.Problem = fmt.Sprintf("it has %d objects, and %d were made", len(documents), len(made))
		return is, nil
	}
	var differ []string
	for i, d := range documents {
		text, err := yaml.YAMLToJSONStrict(d)
		if err != nil {
			return is, fmt.Errorf("%s: %w", file, err)
		}
		want, wrong := exactly(text)
		got, odd := exactly(made[i])
		if err := errors.Join(wrong, odd); err != nil {
			return is, fmt.Errorf("%s: %w", file, err)
		}
		differ = append(differ, changesOf("", want, got)...)
	}
	is.Problem = strings.Join(differ, "\n")
	return is, nil
}

func writeGolden(file string, made [][]byte) error {
	texts := make([][]byte, len(made))
	for i, object := range made {
		text, err := yaml.JSONToYAML(object)
		if err != nil {
			return err
		}
		texts[i] = text
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return writeFile(file, bytes.Join(texts, []byte("---\n")))
}
