package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// imageScheme begins the name of an image where there could be a file.
const imageScheme = "oci://"

// inspectCommand is one run of `wasmgate module inspect`.
type inspectCommand struct {
	tools  workbench.Tools
	module moduleFile
	format output

	image   workbench.Image
	login   string // a file
	trusts  string
	name    string
	timeout time.Duration
}

func newModuleInspect(tools workbench.Tools) *cobra.Command {
	c := &inspectCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "inspect FILE.wasm|oci://IMAGE",
		Short: "Print what a module is: hooks, conversions, languages, exports, imports",
		Long: "Print what is in a module, which is a file or an image of a registry: its digest and\n" +
			"size, whether a gateway would accept it, its hooks, the conversions that it declares,\n" +
			"the languages and tools that made it, its exports and imports. An image is pulled as a\n" +
			"gateway pulls it. With a file of ModuleTrusts the output also says whether they allow\n" +
			"the module, and who signed it. No gateway is needed.\n\n" +
			"The status is 0 if a gateway would accept it, 1 if not, and 2 if the command line\n" +
			"is wrong.",
		Example: "  wasmgate module inspect crontab.wasm\n  wasmgate module inspect crontab.wasm -o json\n" +
			"  wasmgate module inspect oci://registry.example.com/team/tabs:v1 --pull-config ~/.docker/config.json --module-trust-file trust.yaml --for tabs",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd, args[0]) },
	}
	c.module.add(cmd)
	cmd.Flags().StringVar(&c.image.Registries, "module-registries-file", "", "YAML `file` that says how registries are reached, as for serve")
	cmd.Flags().StringVar(&c.login, "pull-config", "", "`file` with credentials for registries, in the form of docker's config.json")
	cmd.Flags().StringVar(&c.trusts, "module-trust-file", "", "YAML `file` of ModuleTrusts, as for serve, which are asked whether the module may be used")
	cmd.Flags().StringVar(&c.name, "for", "", "`name` of the WasmModule that the module will be; ModuleTrusts may select by it")
	cmd.Flags().DurationVar(&c.timeout, "timeout", 5*time.Minute, "how long pulling an image may take")
	c.format.add(cmd, asJSON, asYAML)
	return cmd
}

// inspected is what is printed.
type inspected struct {
	Image *workbench.Pulled `json:"image,omitempty"`
	Trust *workbench.Trust  `json:"trust,omitempty"`
	workbench.Inspection
}

func (c *inspectCommand) run(cmd *cobra.Command, name string) error {
	if err := c.check(name); err != nil { // of variables, which may be a gateway's, what is of no use counts for nothing
		return err
	}
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	switch {
	case c.name != "" && c.trusts == "":
		return errors.New("--for says which ModuleTrusts mean the module: name their file by --module-trust-file")
	case c.timeout <= 0:
		return fmt.Errorf("--timeout: must be greater than 0, got %s", c.timeout)
	}
	var is inspected
	m, err := c.read(cmd.Context(), name, &is)
	if err != nil {
		return err
	}
	if is.Inspection, err = c.tools.Inspect(cmd.Context(), m); err != nil {
		if is.Image != nil { // the mistake is the image's
			return &outcome{statusFound, fmt.Sprintf("%s: %v", name, err)}
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	if c.trusts != "" && c.name != "" {
		judged, err := c.tools.Judge(cmd.Context(), workbench.Judged{Trusts: c.trusts, Name: c.name, Content: m.Content, Image: is.Image})
		if err != nil {
			return err
		}
		is.Trust = &judged
	}
	if c.format.forPrograms() {
		err = c.format.value(cmd.OutOrStdout(), is)
	} else {
		err = is.print(cmd.OutOrStdout())
	}
	switch {
	case err == nil && is.Problem != "":
		return &outcome{statusFound, is.Problem}
	case err == nil && is.Trust != nil && is.Trust.Problem != "":
		return &outcome{statusFound, is.Trust.Problem}
	}
	return err
}

// check tells which flags do not go together.
func (c *inspectCommand) check(name string) error {
	switch isImage := strings.HasPrefix(name, imageScheme); {
	case !isImage && c.image.Registries != "":
		return fmt.Errorf("--module-registries-file is about images, and %s is none: they begin with %s", name, imageScheme)
	case !isImage && c.login != "":
		return fmt.Errorf("--pull-config is about images, and %s is none: they begin with %s", name, imageScheme)
	case c.trusts != "" && c.name == "":
		return errors.New("--module-trust-file needs --for: which ModuleTrusts mean a module depends on its name")
	}
	return nil
}

// read reads the file, or pulls the image and notes in is what that was.
func (c *inspectCommand) read(ctx context.Context, name string, is *inspected) (m workbench.Module, err error) {
	image, ok := strings.CutPrefix(name, imageScheme)
	if !ok {
		return c.module.read(name)
	}
	m.Name, c.image.Name = name, image
	if m.Config, err = c.module.config(); err != nil {
		return m, err
	}
	if c.login != "" {
		if c.image.Login, err = named(c.login); err != nil {
			return m, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	pulled, err := c.tools.Pull(ctx, c.image)
	var failed workbench.PullError
	switch {
	case errors.As(err, &failed) && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return m, failure{fmt.Errorf("%s: it did not come within %s (--timeout): %w", name, c.timeout, err)}
	case errors.As(err, &failed):
		return m, failure{fmt.Errorf("%s: %w", name, err)}
	case err != nil:
		return m, fmt.Errorf("%s: %w", name, err)
	}
	m.Content, is.Image = pulled.Content, &pulled
	return m, nil
}

// trusted is what ModuleTrusts say, in a few words.
func trusted(t workbench.Trust) string {
	switch {
	case t.Problem != "":
		return "no"
	case len(t.SignedBy) > 0:
		all := make([]string, len(t.SignedBy))
		for i, s := range t.SignedBy {
			all[i] = fmt.Sprintf("by %s, for ModuleTrust %q", s.Authority, s.Trust)
		}
		return strings.Join(all, "\n\t")
	}
	return fmt.Sprintf("yes, none of %d ModuleTrusts demands a signature", t.Policies)
}

func (is inspected) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	if i := is.Image; i != nil {
		fmt.Fprintf(w, "Image:\t%s\n", i.Manifest)
		if i.Mirror != "" {
			fmt.Fprintf(w, "Mirror:\t%s\n", i.Mirror)
		}
	}
	fmt.Fprintf(w, "Digest:\t%s\nSize:\t%d\n", is.Digest, is.Size)
	if is.Trust != nil {
		fmt.Fprintf(w, "Trusted:\t%s\n", trusted(*is.Trust))
	}
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
