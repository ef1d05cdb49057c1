package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// initCommand is one run of `wasmgate module init`.
type initCommand struct {
	tools    workbench.Tools
	what     workbench.Draft
	from, to string
	force    bool
	format   output
}

func newModuleInit(tools workbench.Tools) *cobra.Command {
	c := &initCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Create a project for a conversion, from an example or from two versions of a kind",
		Long: "Write the files of a project that converts objects from one version of a kind to\n" +
			"another: the CustomResourceDefinition, the conversion, samples and golden files, and\n" +
			"a README.md with the next commands. No server is needed.\n\n" +
			"With --from and --to, the conversion is guessed from two schemas: fields that were\n" +
			"renamed or moved, texts that were split, values and types that changed. Fields that one\n" +
			"version lacks are kept in annotations. --from alone uses all versions in one file. An\n" +
			"uncertain guess is marked with CHECK, the reason and the alternatives; `wasmgate module\n" +
			"fuzz` finds what is lost. Without --from and --to the project is an example.\n\n" +
			"The status is 0 if the files were written, and 2 if not.",
		Example: "  wasmgate module init widgets\n" +
			"  wasmgate module init widgets --from old.yaml --to new.yaml --language rules\n" +
			"  wasmgate module init widgets --from crd.yaml --language go --sdk ../wasmgate\n" +
			"  wasmgate module init widgets --language rust --sdk ../wasmgate\n" +
			"  wasmgate module init widgets --language assemblyscript --sdk ../wasmgate",
		Args:        arguments(1, 1),
		Annotations: map[string]string{mistakesAre: ""},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.from, "from", "", "`file` with the CustomResourceDefinition, or with its old version, YAML or JSON")
	cmd.Flags().StringVar(&c.to, "to", "", "`file` with the new version of the CustomResourceDefinition")
	cmd.Flags().StringVar(&c.what.Language, "language", "rules", "`language` of the conversion")
	_ = cmd.RegisterFlagCompletionFunc("language", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return tools.Languages(), cobra.ShellCompDirectiveNoFileComp
	})
	cmd.Flags().StringVar(&c.what.Name, "name", "", "`name` of the module or of the rules (default the plural of the kind)")
	cmd.Flags().StringVar(&c.what.SDK, "sdk", "", "`folder` with a checkout of wasmgate; the module is built with the SDK in it")
	cmd.Flags().BoolVar(&c.force, "force", false, "overwrite existing files")
	c.format.add(cmd, asTable, asJSON, asYAML)
	return cmd
}

func (c *initCommand) run(cmd *cobra.Command, args []string) (err error) {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	c.what.Language = languageNamed(c.what.Language)
	if known := c.tools.Languages(); !slices.Contains(known, c.what.Language) {
		return fmt.Errorf("--language %s is not known: want one of %s", c.what.Language, strings.Join(known, ", "))
	}
	if c.to != "" && c.from == "" {
		return errors.New("--to needs --from: the file with the old version")
	}
	if c.what.Name != "" {
		if wrong := validation.IsDNS1123Subdomain(c.what.Name); len(wrong) > 0 {
			return fmt.Errorf("--name %s cannot be the name of a module or of rules: %s", c.what.Name, strings.Join(wrong, "; "))
		}
	}
	if c.what.SDK != "" {
		if c.what.SDK, err = filepath.Abs(c.what.SDK); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(c.what.SDK, "sdk", "doc.go")); err != nil {
			return fmt.Errorf("--sdk %s is no checkout of wasmgate: %w", c.what.SDK, err)
		}
	}
	for _, is := range []struct { // which may be one file
		name string
		text *[]byte
	}{{c.from, &c.what.From}, {c.to, &c.what.To}} {
		if is.name == "" {
			continue
		}
		if *is.text, err = os.ReadFile(is.name); err != nil {
			return err
		}
		if len(*is.text) == 0 {
			return fmt.Errorf("%s is empty", is.name)
		}
	}
	made, err := c.tools.Draft(cmd.Context(), c.what)
	if err != nil {
		return err
	}
	if err := writeFiles(args[0], made.Files, c.force); err != nil {
		return err
	}
	if c.format.forPrograms() && c.format.format != asTable {
		return c.format.value(cmd.OutOrStdout(), made)
	}
	return printDrafted(cmd.OutOrStdout(), args[0], made)
}

// writeFiles writes files, or, without force, none if one is there already.
func writeFiles(dir string, files []workbench.File, force bool) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: name a folder, which is made if there is none", dir)
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if _, err := os.Lstat(name); !force && !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return err
			}
			return fmt.Errorf("%s is there already: take another folder, or write over it with --force", name)
		}
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := writeFile(name, f.Content); err != nil {
			return err
		}
	}
	return nil
}

func printDrafted(out io.Writer, dir string, made workbench.Drafted) error {
	unsure := 0
	if len(made.Operations) > 0 {
		w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
		fmt.Fprintln(w, "PAIR\tCHECK\tFIELD\tWHAT\tWHY")
		for _, op := range made.Operations {
			check := ""
			if op.Check {
				unsure++
				check = "CHECK"
			}
			fmt.Fprintf(w, "%s:%s\t%s\t%s\t%s\t%s\n", op.From, op.To, check, shown(op.Field), operationOf(op.Rule), shown(op.Why))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s: %s, %d to check; %s. What to do next is in %s\n",
		made.Definition, counted(int64(len(made.Operations)), "operation"), unsure, counted(int64(len(made.Files)), "file"), filepath.Join(dir, "README.md"))
	return err
}

// operationOf is the name of a rule.
func operationOf(rule string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(rule, `{"`), `"`)
	if name == "" {
		return "(nothing)"
	}
	return name
}
