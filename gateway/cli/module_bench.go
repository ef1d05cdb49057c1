package cli

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// mostInBatch is how many objects go together at most.
const mostInBatch = 100000

func newModuleBench(tools workbench.Tools) *cobra.Command {
	var corpus corpusFlags
	var module moduleFile
	var format output
	var what workbench.Bench
	cmd := &cobra.Command{
		Use:   "bench FILE.wasm --crd CRD.yaml [-f OBJECTS]",
		Short: "Measure time, fuel and memory of a module's conversions, without a server",
		Long: "Convert objects with a module, or with ConversionRules, one at a time and in batches,\n" +
			"as a gateway does it: a batch is divided into calls, which run on all processors. The\n" +
			"output has the median time of all rounds, the fuel per object (the same in every run),\n" +
			"the most memory that the module used, its size, and the time to compile and start it.\n" +
			"Without -f, the objects are generated from the schemas.\n\n" +
			"The status is 0 if something was measured, 1 if no object converts, and 2 if the command\n" +
			"line is wrong.",
		Example: "  wasmgate module bench crontab.wasm --crd crd.yaml -f crontab.yaml\n" +
			"  wasmgate module bench crontab.wasm --crd crd.yaml --batch 1,500 --time 5s -o json",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			if what.Time <= 0 {
				return errors.New("--time has to be more than 0")
			}
			for _, n := range what.Batches {
				if n < 1 || n > mostInBatch {
					return fmt.Errorf("--batch has to be from 1 to %d", mostInBatch)
				}
			}
			if what.Corpus, err = corpus.read(cmd); err != nil {
				return err
			}
			if what.Module, err = module.read(args[0]); err != nil {
				return err
			}
			found, err := tools.Bench(cmd.Context(), what)
			if err != nil {
				return inDefinitions(err, corpus.crdFile)
			}
			if format.forPrograms() && format.format != asTable {
				err = format.value(cmd.OutOrStdout(), found)
			} else {
				err = printMeasured(cmd.OutOrStdout(), found)
			}
			if err == nil && len(found.Rows) == 0 {
				return &outcome{statusFound, fmt.Sprintf("%s converts none of the objects: see wasmgate module fuzz", args[0])}
			}
			return err
		},
	}
	cmd.Flags().IntSliceVar(&what.Batches, "batch", []int{1, 500}, "sizes of batches to measure, in `objects`, comma-separated")
	cmd.Flags().DurationVar(&what.Time, "time", time.Second, "how long each size of batch is measured")
	corpus.add(cmd)
	module.add(cmd)
	format.add(cmd, asTable, asJSON, asYAML)
	return cmd
}

func printMeasured(out io.Writer, found workbench.Measured) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "PAIR\tBATCH\tBYTES\tTIME\tPER OBJECT\tFUEL\tMEMORY\tROUNDS")
	for _, r := range found.Rows {
		fmt.Fprintf(w, "%s:%s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\n", r.From, r.To, r.Batch, r.Bytes, r.Took, r.PerObject, r.Fuel, r.Memory, r.Rounds)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range found.Problems {
		fmt.Fprintf(out, "left out: %s\n", shown(p))
	}
	_, err := fmt.Fprintf(out, "%d bytes, compiled and started in %s\n", found.Size, found.Load.Round(time.Millisecond))
	return err
}
