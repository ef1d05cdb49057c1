package cli

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// The statuses that commands about modules in files exit with, besides 0.
const (
	statusFound   = 1 // something is wrong with the module
	statusMistake = 2 // the command line is wrong
	statusUnknown = 3 // nothing was found, but not everything was looked at
)

// asTable is what commands print for people, by its name.
const asTable = "table"

// outcome is an error that is no mistake: what a command found.
type outcome struct {
	status int
	text   string
}

func (o *outcome) Error() string { return o.text }

// mistakesAre is the annotation of commands whose mistakes have a status of their own.
const mistakesAre = "wasmgate.dev/mistakes-exit-with-2"

// moduleFile is a module in a file, with its configuration.
type moduleFile struct{ configFile string }

func (m *moduleFile) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.configFile, "config", "", "`file` with the configuration of the module, as spec.config, in YAML or JSON")
}

func (m *moduleFile) read(file string) (out workbench.Module, err error) {
	out.Name = file
	if out.Content, err = os.ReadFile(file); err != nil {
		return out, err
	}
	if out.Content, err = moduleIn(out.Content); err != nil {
		return out, fmt.Errorf("%s: %w", file, err)
	}
	out.Config, err = m.config()
	return out, err
}

// config is what the module is configured with as JSON, nil for nothing.
func (m *moduleFile) config() ([]byte, error) {
	config, err := readConfig(m.configFile)
	if err != nil || config == nil {
		return nil, err
	}
	return json.Marshal(config)
}

// fuzzCommand is one run of `wasmgate module fuzz`.
type fuzzCommand struct {
	tools  workbench.Tools
	module moduleFile
	format output
	what   workbench.Proof
	file   string
	// of a webhook
	ca        string
	perSecond int
}

func newModuleFuzz(tools workbench.Tools) *cobra.Command {
	f := &fuzzCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "fuzz FILE.wasm|URL -f CRD.yaml",
		Short: "Look for what the conversions of a module lose, without a server",
		Long: "Generate objects from the schemas of a CustomResourceDefinition, convert them with the\n" +
			"module to another version and back, and report every field that is not the same\n" +
			"afterwards, with a small object that shows it. A conversion also has to give an object\n" +
			"that is valid at the other version, keep labels and annotations, and give the same\n" +
			"bytes each time. The same seed generates the same objects. For a module, as many\n" +
			"objects again are generated to reach code that no object has reached yet. No server is\n" +
			"needed. Instead of a module, FILE may contain ConversionRules, or be the URL of a\n" +
			"conversion webhook, which then gets one object at a time.\n\n" +
			"The status is 0 if nothing is lost, 1 if something is, 2 if the command line\n" +
			"is wrong, and 3 if no loss was found but not all was tried: the time was up, or some\n" +
			"fields were not reached.",
		Example: "  wasmgate module fuzz crontab.wasm -f crd.yaml\n" +
			"  wasmgate module fuzz crontab.wasm -f crd.yaml --pairs v1beta1:v1 --budget 2m -o json\n" +
			"  wasmgate module fuzz https://hooks.example.com/convert --ca ca.crt -f crd.yaml --budget 2m",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE:              f.run,
	}
	cmd.Flags().StringVarP(&f.file, "filename", "f", "", "`file` with the CustomResourceDefinition, YAML or JSON")
	cmd.Flags().StringSliceVar(&f.what.Pairs, "pairs", nil, "pairs of versions to try, as `FROM:TO` (default all)")
	cmd.Flags().DurationVar(&f.what.Budget, "budget", 30*time.Second, "time limit for all pairs together, which ends earlier once all objects were tried")
	cmd.Flags().IntVar(&f.what.Objects, "objects", 1000, "how many objects to try for each pair; for a module as many again, to reach more of its code")
	cmd.Flags().Uint64Var(&f.what.Seed, "seed", 1, "number that chooses the generated objects; the same number gives the same objects")
	cmd.Flags().StringSliceVar(&f.what.Acknowledged, "acknowledge", nil, "`paths` of fields that may be lost, such as spec.ports[*].name")
	cmd.Flags().StringVar(&f.ca, "ca", "", "PEM `file` with the authorities that verify a webhook (default those of the system)")
	cmd.Flags().IntVar(&f.perSecond, "calls-per-second", 50, "the most calls of a webhook per second")
	f.module.add(cmd)
	f.format.add(cmd, asTable, asJSON, asYAML)
	return cmd
}

// subject is what is to be proved: a file, or a webhook by its URL.
func (f *fuzzCommand) subject(name string) (err error) {
	if !strings.Contains(name, "://") {
		if f.ca != "" {
			return fmt.Errorf("--ca is for webhooks, and %s is a file", name)
		}
		f.what.Module, err = f.module.read(name)
		return err
	}
	if f.module.configFile != "" {
		return fmt.Errorf("--config is for modules, and %s is a webhook", name)
	}
	f.what.Webhook = &workbench.Webhook{URL: name, PerSecond: f.perSecond}
	if f.ca == "" {
		return nil
	}
	if f.what.Webhook.CA, err = os.ReadFile(f.ca); err == nil && !x509.NewCertPool().AppendCertsFromPEM(f.what.Webhook.CA) {
		err = fmt.Errorf("--ca: %s has no certificate in PEM", f.ca)
	}
	return err
}

// completeFiles lets the shell complete files.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func (f *fuzzCommand) run(cmd *cobra.Command, args []string) (err error) {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	switch {
	case f.file == "":
		return fmt.Errorf("-f is missing: the file with the CustomResourceDefinition\nUsage: %s", cmd.UseLine())
	case f.what.Budget <= 0 || f.what.Objects <= 0 || f.perSecond <= 0:
		return fmt.Errorf("--budget, --objects and --calls-per-second have to be more than 0")
	}
	if f.what.Definitions, err = os.ReadFile(f.file); err != nil {
		return err
	}
	if err := f.subject(args[0]); err != nil {
		return err
	}
	found, err := f.tools.Prove(cmd.Context(), f.what)
	if err != nil {
		return inDefinitions(err, f.file)
	}
	if f.format.forPrograms() && f.format.format != asTable {
		err = f.format.value(cmd.OutOrStdout(), found)
	} else {
		err = printFindings(cmd.OutOrStdout(), found)
	}
	switch {
	case err != nil:
		return err
	case found.Lossless == "False":
		return &outcome{statusFound, fmt.Sprintf("%s: conversions of %s are not right: %s", args[0], found.Definition, strings.Join(fieldsOf(found), ", "))}
	case found.Lossless != "True":
		return &outcome{statusUnknown, fmt.Sprintf("%s: nothing was found, but it is not proved: %s", args[0], found.Why)}
	}
	return nil
}

// fieldsOf are the fields that are lost, each once.
func fieldsOf(found workbench.Findings) (all []string) {
	told := map[string]bool{}
	for _, l := range found.Losses {
		if !told[l.Field] {
			told[l.Field] = true
			all = append(all, l.Field)
		}
	}
	return all
}

func printFindings(out io.Writer, found workbench.Findings) error {
	if len(found.Losses) > 0 {
		w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
		fmt.Fprintln(w, "PAIR\tPROBLEM\tFIELD\tHAD\tGOT")
		for _, l := range found.Losses {
			fmt.Fprintf(w, "%s:%s\t%s\t%s\t%s\t%s\n", l.From, l.To, l.Problem, shown(l.Field), brief(l.Had), brief(l.Got))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, l := range found.Losses {
		fmt.Fprintf(out, "\n%s:%s %s: %s\n", l.From, l.To, shown(l.Field), l.Problem)
		if l.Message != "" {
			fmt.Fprintf(out, "  %s\n", shown(l.Message))
		}
		for _, line := range strings.Split(strings.TrimSuffix(l.Example, "\n"), "\n") {
			fmt.Fprintf(out, "    %s\n", shown(line))
		}
		if l.Place != "" && l.Problem != "ConversionFails" { // of which nothing came back
			fmt.Fprintf(out, "  - %s: %s\n  + %s: %s\n", shown(l.Place), absent(l.Had), shown(l.Place), absent(l.Got))
		}
	}
	if len(found.Losses) > 0 {
		fmt.Fprintln(out)
	}
	branches := ""
	if b := found.Branches; b != nil {
		branches = fmt.Sprintf(", which took %d of %d branches of the functions that they ran", b.Taken, b.All)
	}
	_, err := fmt.Fprintf(out, "%s: lossless: %s; %d objects tried, with %d of %d fields%s (seed %d)\n",
		found.Definition, found.Lossless, found.Tried, found.Reached, found.Fields, branches, found.Seed)
	return err
}

// absent is a value, or that there is none.
func absent(value string) string {
	if value == "" {
		return "(nothing)"
	}
	return shown(value)
}

// brief is a value for a column.
func brief(value string) string {
	if runes := []rune(value); len(runes) > 30 {
		return shown(string(runes[:27]) + "...")
	}
	return absent(value)
}
