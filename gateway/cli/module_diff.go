package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

func newModuleDiff(tools workbench.Tools) *cobra.Command {
	var corpus corpusFlags
	var module moduleFile
	var format output
	cmd := &cobra.Command{
		Use:   "diff A B --crd CRD.yaml [-f CORPUS]",
		Short: "Compare how two modules convert the same objects, without a server",
		Long: "Convert objects to each other version of their kind with two modules, or files with\n" +
			"ConversionRules, and report every field whose value differs, with the number of objects\n" +
			"and the two values in the first of these. Without -f, the objects are generated from\n" +
			"the schemas; every run generates the same ones. No server is needed.\n\n" +
			"The status is 0 if all results are the same, 1 if not or if neither converts any of\n" +
			"the objects, and 2 if the command line is wrong.",
		Example: "  wasmgate module diff old.wasm new.wasm --crd crd.yaml -f live.yaml\n" +
			"  wasmgate module diff rules.yaml new.wasm --crd crd.yaml --objects 1000 -o json",
		Args:              arguments(2, 2),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			var what workbench.Comparison
			if what.Corpus, err = corpus.read(cmd); err != nil {
				return err
			}
			if what.A, err = module.read(args[0]); err != nil {
				return err
			}
			if what.B, err = module.read(args[1]); err != nil {
				return err
			}
			found, err := tools.Compare(cmd.Context(), what)
			if err != nil {
				return inDefinitions(err, corpus.crdFile)
			}
			if format.forPrograms() && format.format != asTable {
				err = format.value(cmd.OutOrStdout(), found)
			} else {
				err = printCompared(cmd.OutOrStdout(), found)
			}
			switch {
			case err != nil:
				return err
			case len(found.Places) > 0:
				return &outcome{statusFound, fmt.Sprintf("%s and %s differ", args[0], args[1])}
			case found.Neither > 0 && found.Neither == found.Conversions:
				return &outcome{statusFound, fmt.Sprintf("neither %s nor %s converts any of the objects", args[0], args[1])}
			}
			return nil
		},
	}
	corpus.add(cmd)
	module.add(cmd)
	format.add(cmd, asTable, asJSON, asYAML)
	return cmd
}

func printCompared(out io.Writer, found workbench.Compared) error {
	if len(found.Places) > 0 {
		w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
		fmt.Fprintln(w, "PAIR\tFIELD\tOBJECTS\tA\tB")
		for _, p := range found.Places {
			fmt.Fprintf(w, "%s:%s\t%s\t%d\t%s\t%s\n", p.From, p.To, shown(p.Field), p.Count, brief(p.A), brief(p.B))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	neither := ""
	if found.Neither > 0 {
		neither = fmt.Sprintf(", %d that neither makes: %s", found.Neither, shown(found.Said))
	}
	_, err := fmt.Fprintf(out, "%d conversions, %d the same%s\n", found.Conversions, found.Same, neither)
	return err
}
