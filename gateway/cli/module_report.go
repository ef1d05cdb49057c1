package cli

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// The formats of tests, for what collects them.
const (
	asJUnit = "junit"
	asSARIF = "sarif"
)

// testCase is one thing that was tested.
type testCase struct {
	Name string `json:"name"`
	// File is where it is to be mended.
	File string `json:"file"`
	// Problem is what is wrong, in lines; "" if nothing is.
	Problem string `json:"problem,omitempty"`
}

func failedOf(cases []testCase) (n int) {
	for _, c := range cases {
		if c.Problem != "" {
			n++
		}
	}
	return n
}

// printCases prints what came of tests of a module.
func printCases(out io.Writer, format *output, module string, cases []testCase) error {
	switch format.format {
	case asJUnit:
		return printJUnit(out, module, cases)
	case asSARIF:
		return printSARIF(out, cases)
	case asJSON, asYAML:
		return format.value(out, map[string]any{"module": module, "tests": cases})
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "RESULT\tTEST\tPROBLEM")
	for _, c := range cases {
		result := "ok"
		if c.Problem != "" {
			result = "FAIL"
		}
		for i, line := range strings.Split(shown(c.Problem), "\n") {
			if i == 0 {
				fmt.Fprintf(w, "%s\t%s\t%s\n", result, shown(c.Name), line)
			} else {
				fmt.Fprintf(w, "\t\t%s\n", line)
			}
		}
	}
	return w.Flush()
}

// junitSuite and what is in it are the format that most builds read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func printJUnit(out io.Writer, module string, cases []testCase) error {
	suite := junitSuite{Name: module, Tests: len(cases), Failures: failedOf(cases)}
	for _, c := range cases {
		one := junitCase{Name: c.Name, Class: c.File}
		if c.Problem != "" {
			first, _, _ := strings.Cut(c.Problem, "\n")
			one.Failure = &junitFailure{Message: first, Text: c.Problem}
		}
		suite.Cases = append(suite.Cases, one)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s%s\n", xml.Header, text)
	return err
}

// printSARIF prints what failed as SARIF 2.1.0, which code hosts show beside the files.
func printSARIF(out io.Writer, cases []testCase) error {
	type tree = map[string]any
	results := []tree{}
	for _, c := range cases {
		if c.Problem != "" {
			results = append(results, tree{
				"ruleId": "conversion", "level": "error", "message": tree{"text": c.Name + "\n" + c.Problem},
				"locations": []tree{{"physicalLocation": tree{"artifactLocation": tree{"uri": c.File}}}},
			})
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(tree{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []tree{{
			"tool": tree{"driver": tree{"name": "wasmgate module test", "version": Version(), "rules": []tree{{
				"id": "conversion", "shortDescription": tree{"text": "What a module converts comes back as it was, and is what golden files say."}}}}},
			"results": results,
		}},
	})
}

// sortedKeys are the keys of two maps, each once.
func sortedKeys(a, b map[string]any) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
