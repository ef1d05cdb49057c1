package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// tryCommand is one run of `wasmgate module test`.
type tryCommand struct {
	tools   workbench.Tools
	module  moduleFile
	what    workbench.Samples
	crdFile string
	samples []string
	golden  string
	update  bool
	format  output
}

func newModuleTest(tools workbench.Tools) *cobra.Command {
	c := &tryCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "test FILE.wasm -f CRD.yaml --samples DIR",
		Short: "Test the conversions of a module with samples and golden files, without a server",
		Long: "Convert each sample, an object in a file, to each other version of its kind and back.\n" +
			"The result has to equal the sample, and the converted object has to be valid and to\n" +
			"equal its golden file: for samples/a.yaml at v1 this is a.v1.yaml in the folder of\n" +
			"--golden. --update writes the golden files. No server is needed.\n\n" +
			"The status is 0 if all tests pass, 1 if one fails, and 2 if the command line\n" +
			"is wrong.",
		Example: "  wasmgate module test crontab.wasm -f crd.yaml --samples testdata/samples --golden testdata/golden --update\n" +
			"  wasmgate module test crontab.wasm -f crd.yaml --samples testdata/samples --golden testdata/golden -o junit",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE:              c.run,
	}
	cmd.Flags().StringVarP(&c.crdFile, "filename", "f", "", "`file` with the CustomResourceDefinition, YAML or JSON")
	cmd.Flags().StringSliceVar(&c.samples, "samples", nil, "`files` and folders with samples")
	cmd.Flags().StringVar(&c.golden, "golden", "", "`folder` with the golden files: the samples at other versions")
	cmd.Flags().BoolVar(&c.update, "update", false, "write the golden files")
	cmd.Flags().StringSliceVar(&c.what.Acknowledged, "acknowledge", nil, "`paths` of fields that may be lost, such as spec.ports[*].name")
	c.module.add(cmd)
	c.format.add(cmd, asTable, asJSON, asYAML, asJUnit, asSARIF)
	return cmd
}

func (c *tryCommand) run(cmd *cobra.Command, args []string) (err error) {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	switch {
	case c.crdFile == "" || len(c.samples) == 0:
		return fmt.Errorf("-f and --samples are needed\nUsage: %s", cmd.UseLine())
	case c.update && c.golden == "":
		return errors.New("--update needs --golden")
	}
	if c.what.Definitions, err = os.ReadFile(c.crdFile); err != nil {
		return err
	}
	if c.what.Module, err = c.module.read(args[0]); err != nil {
		return err
	}
	files, err := readManifests(c.samples, standardIn(cmd))
	if err != nil {
		return err
	}
	for _, f := range files {
		for _, d := range f.documents {
			if d.object != nil {
				c.what.Objects = append(c.what.Objects, d.object)
			}
		}
	}
	tried, err := c.tools.Try(cmd.Context(), c.what)
	if err != nil {
		return inDefinitions(err, c.crdFile)
	}
	cases, err := c.judge(files, tried)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return fmt.Errorf("%s: there are no objects of that kind", strings.Join(c.samples, ", "))
	}
	if err := printCases(cmd.OutOrStdout(), &c.format, args[0], cases); err != nil {
		return err
	}
	if n := failedOf(cases); n > 0 {
		return &outcome{statusFound, fmt.Sprintf("%d of %d tests failed", n, len(cases))}
	}
	return nil
}

// judge is what came of all samples, which are in the order of the files.
func (c *tryCommand) judge(files []manifestFile, tried []workbench.Sample) (cases []testCase, err error) {
	var later []func() error
	g := goldens{of: map[string]string{}}
	for _, f := range files {
		g.samples = append(g.samples, f.name)
	}
	for _, f := range files {
		made := map[string][][]byte{} // by version: what is to be in the golden file
		var versions []string
		for i, d := range f.documents {
			if d.object == nil {
				continue
			}
			s := tried[0]
			tried = tried[1:]
			if s.Version == "" {
				continue
			}
			name := f.name
			if len(f.documents) > 1 {
				name = fmt.Sprintf("%s#%d", f.name, i+1)
			}
			cases = append(cases, cameBack(name, f.name, s)...)
			for _, m := range s.Made {
				if m.Problem == "" {
					if made[m.To] == nil {
						versions = append(versions, m.To)
					}
					made[m.To] = append(made[m.To], m.Object)
				}
			}
		}
		for _, v := range versions {
			if c.golden == "" {
				break
			}
			if err := g.claim(f.name, c.goldenFile(f.name, v)); err != nil {
				return nil, err
			}
			at := len(cases)
			cases = append(cases, testCase{})
			later = append(later, func() (err error) { cases[at], err = c.compare(f.name, v, made[v]); return err })
		}
	}
	for _, compare := range later { // when it is known that no file is of two samples
		if err := compare(); err != nil {
			return nil, err
		}
	}
	return cases, nil
}

// cameBack are the tests of one sample: one for each version that it was brought to,
// and of one that is none, that it is not.
func cameBack(name, file string, s workbench.Sample) (cases []testCase) {
	if s.Problem != "" {
		return []testCase{{Name: name, File: file, Problem: "it is no valid sample: " + s.Problem}}
	}
	for _, m := range s.Made {
		is := testCase{Name: fmt.Sprintf("%s: %s to %s and back", name, s.Version, m.To), File: file}
		var lost []string
		for _, l := range s.Losses {
			if l.To != m.To {
				continue
			}
			text := fmt.Sprintf("%s of %s", l.Problem, l.Place)
			if l.Message != "" {
				text = l.Problem + ": " + l.Message
			} else if l.Problem == "Lost" {
				text += fmt.Sprintf(": %s becomes %s", absent(l.Had), absent(l.Got))
			}
			lost = append(lost, text)
		}
		if is.Problem = strings.Join(lost, "\n"); is.Problem == "" {
			is.Problem = m.Problem
		}
		cases = append(cases, is)
	}
	return cases
}

// exactly is what a JSON text says, with all digits of whole numbers, of which a float64 has
// not all.
func exactly(text []byte) (v any, err error) {
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	err = from.Decode(&v)
	return wholeNumbers(v), err
}

// wholeNumbers makes numbers comparable, however they are written: 1.0 is 1.
func wholeNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = wholeNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case json.Number:
		if n, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return n
		}
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		if f >= 0 && f < 1<<53 && f == math.Trunc(f) {
			return uint64(f)
		}
		if f < 0 && f > -1<<53 && f == math.Trunc(f) {
			return int64(f)
		}
		return f
	}
	return v
}

// changesOf are the places at which two values differ, in words.
func changesOf(path string, want, got any) (all []string) {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	w, isMap := want.(map[string]any)
	g, too := got.(map[string]any)
	if !isMap || !too {
		return []string{fmt.Sprintf("%s: want %s, got %s", strings.TrimPrefix(path, "."), inJSON(want), inJSON(got))}
	}
	for _, key := range sortedKeys(w, g) {
		all = append(all, changesOf(path+"."+key, w[key], g[key])...)
	}
	return all
}

// inJSON is a value for people.
func inJSON(v any) string {
	if v == nil {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return shown(string(text))
}
