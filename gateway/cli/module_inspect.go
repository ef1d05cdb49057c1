package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

func newModuleInspect(tools workbench.Tools) *cobra.Command {
	var module moduleFile
	var format output
	cmd := &cobra.Command{
		Use:   "inspect FILE.wasm",
		Short: "Print what a module is: hooks, conversions, languages, exports, imports",
		Long: "Print what a module in a file is: its digest and size, whether a gateway would take\n" +
			"it, its hooks, the conversions that it says it makes, the languages and tools that\n" +
			"made it, its exports and imports. No server is needed.\n\n" +
			"The status is 0 if a gateway would take it, 1 if not, and 2 if the command was not\n" +
			"used as it is meant.",
		Example:           "  wasmgate module inspect crontab.wasm\n  wasmgate module inspect crontab.wasm -o json",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			m, err := module.read(args[0])
			if err != nil {
				return err
			}
			is, err := tools.Inspect(cmd.Context(), m)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if format.forPrograms() {
				err = format.value(cmd.OutOrStdout(), is)
			} else {
				err = printInspection(cmd.OutOrStdout(), is)
			}
			if err == nil && is.Problem != "" {
				return &outcome{statusFound, is.Problem}
			}
			return err
		},
	}
	module.add(cmd)
	format.add(cmd, asJSON, asYAML)
	return cmd
}

func printInspection(out io.Writer, is workbench.Inspection) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintf(w, "Digest:\t%s\nSize:\t%d\n", is.Digest, is.Size)
	if is.ABI != "" {
		fmt.Fprintf(w, "ABI:\t%s\n", is.ABI)
	}
	for _, part := range []struct {
		name string
		of   []string
	}{
		{"Hooks", is.Hooks}, {"Converts", is.Conversions}, {"Made with", is.Producers}, {"Exports", is.Exports}, {"Imports", is.Imports},
	} {
		text := make([]string, len(part.of))
		for i, one := range part.of {
			text[i] = shown(one)
		}
		fmt.Fprintf(w, "%s:\t%s\n", part.name, strings.Join(text, "\n\t"))
	}
	return w.Flush()
}
