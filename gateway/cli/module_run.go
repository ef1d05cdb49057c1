package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

func newModuleRun(tools workbench.Tools) *cobra.Command {
	var module moduleFile
	var format output
	var file string
	var objects []string
	cmd := &cobra.Command{
		Use:   "run FILE.wasm -f REVIEW.yaml",
		Short: "Call a module with an admission request, or for an order of versions, without a server",
		Long: "Call a module with the request in a file, YAML or JSON, and print its reply, what it\n" +
			"logged, and the fuel and memory it used. The kind of the request chooses the hook:\n" +
			"AdmissionReview, VersionPriorityReview or ConversionReview. --objects names files with\n" +
			"objects that the module may look up. No server is needed.\n\n" +
			"The status is 0 if the module allows the request, 1 if it refuses it or fails,\n" +
			"and 2 if the command line is wrong.",
		Example: "  wasmgate module run policy.wasm -f review.yaml\n" +
			"  wasmgate module run policy.wasm -f review.yaml --objects teams.yaml --config config.yaml -o json",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			if file == "" {
				return fmt.Errorf("-f is missing: the file with the request\nUsage: %s", cmd.UseLine())
			}
			what, err := asked(cmd, file, objects)
			if err != nil {
				return err
			}
			if what.Module, err = module.read(args[0]); err != nil {
				return err
			}
			got, err := tools.Answer(cmd.Context(), what)
			if err != nil {
				return err
			}
			return answered(cmd.OutOrStdout(), &format, got)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "`file` with the request, YAML or JSON; - is the standard input")
	cmd.Flags().StringSliceVar(&objects, "objects", nil, "`files` and folders with objects that the module may look up")
	module.add(cmd)
	format.add(cmd, asJSON, asYAML)
	return cmd
}

// asked is the request in a file, with what the module may look up.
func asked(cmd *cobra.Command, file string, objects []string) (what workbench.Request, err error) {
	reviews, err := readObjects([]string{file}, cmd)
	if err != nil {
		return what, err
	}
	if len(reviews) != 1 {
		return what, fmt.Errorf("%s has %d objects, and one request is asked", file, len(reviews))
	}
	what.Review = reviews[0]
	what.Objects, err = readObjects(objects, cmd)
	return what, err
}

// answered prints what a module answered, and is an error if that is no yes.
func answered(out io.Writer, format *output, got workbench.Answer) (err error) {
	if format.forPrograms() {
		err = format.value(out, got)
	} else {
		err = printAnswer(out, got)
	}
	switch {
	case err != nil:
		return err
	case got.Problem != "":
		return &outcome{statusFound, got.Problem}
	case got.Refused != "":
		return &outcome{statusFound, "refused: " + got.Refused}
	}
	return nil
}

func printAnswer(out io.Writer, got workbench.Answer) error {
	for _, line := range got.Log {
		fmt.Fprintf(out, "log: %s\n", shown(line))
	}
	if got.Reply != "" {
		var text bytes.Buffer
		if json.Indent(&text, []byte(got.Reply), "", "    ") != nil {
			text.Reset()
			text.WriteString(shown(got.Reply))
		}
		fmt.Fprintln(out, text.String())
	}
	if got.Stack != "" {
		fmt.Fprintf(out, "in the module:\n  %s\n", strings.ReplaceAll(shown(got.Stack), "\n", "\n  "))
	}
	_, err := fmt.Fprintf(out, "%s: %d fuel, %d bytes of memory, %s\n", got.Hook, got.Fuel, got.Memory, got.Took)
	return err
}
