package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// toolchain is how modules of one language are built.
type toolchain struct {
	language string
	// sign is the file by which a project is known.
	sign string
	tool string
	env  []string
	// args are those of the tool; made is where it leaves the module, as patterns of which the
	// first that is there counts, and "" means that it takes -o.
	args []string
	made string
	// missing says how to get the tool.
	missing string
}

// toolchains are in the order in which they are looked for.
var toolchains = []toolchain{
	{language: "go", sign: "go.mod", tool: "go", env: []string{"GOOS=wasip1", "GOARCH=wasm"}, args: []string{"build", "-buildmode=c-shared"},
		missing: "install Go (https://go.dev/dl)"},
	{language: "tinygo", tool: "tinygo", args: []string{"build", "-target=wasip1", "-buildmode=c-shared", "-no-debug"},
		missing: "install TinyGo (https://tinygo.org/getting-started/install)"},
	{language: "rust", sign: "Cargo.toml", tool: "cargo", args: []string{"build", "--release", "--target", "wasm32-unknown-unknown", "--target-dir", "target"},
		made: "target/wasm32-unknown-unknown/release/*.wasm", missing: "install Rust (https://rustup.rs), and then: rustup target add wasm32-unknown-unknown"},
	{language: "assemblyscript", sign: "package.json", tool: "npm", args: []string{"run", "build"}, made: "build/*.wasm *.wasm",
		missing: "install Node.js (https://nodejs.org), and then: npm ci"},
}

// buildCommand is one run of `wasmgate module build`.
type buildCommand struct {
	tools         workbench.Tools
	out, language string
	format        output
	// dir is the folder of the project, from the root.
	dir string
}

func newModuleBuild(tools workbench.Tools) *cobra.Command {
	c := &buildCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Build the module of a project, in Go, TinyGo, Rust or AssemblyScript",
		Long: "Build the module of the project in a folder, by default the current one, with the\n" +
			"tools of its language and the options that modules need. Then check whether a gateway\n" +
			"would accept the module. A project with go.mod is built by go, or with --language\n" +
			"tinygo by TinyGo; one with Cargo.toml by cargo; one with package.json by its script\n" +
			"`build`, which has to run asc.\n\n" +
			"The status is 0 if a gateway would accept the module, 1 if not, and 2 if\n" +
			"the command line is wrong, or a tool is missing.",
		Example: "  wasmgate module build\n" +
			"  wasmgate module build widgets --out widgets.wasm",
		Args:        arguments(0, 1),
		Annotations: map[string]string{mistakesAre: ""},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.out, "out", "", "`file` for the module (default NAME.wasm in the project's folder; NAME is the folder's name)")
	cmd.Flags().StringVar(&c.language, "language", "", "`language` of the project, if its files do not show it: go, tinygo, rust, assemblyscript")
	_ = cmd.RegisterFlagCompletionFunc("language", cobra.FixedCompletions(languagesBuilt(), cobra.ShellCompDirectiveNoFileComp))
	c.format.add(cmd, asJSON, asYAML)
	return cmd
}

// languageNamed is the language that is meant: of TypeScript, AssemblyScript is what becomes
// a module.
func languageNamed(name string) string {
	if name == "typescript" {
		return "assemblyscript"
	}
	return name
}

func languagesBuilt() (all []string) {
	for _, t := range toolchains {
		all = append(all, t.language)
	}
	return all
}

func (c *buildCommand) run(cmd *cobra.Command, args []string) error {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	var err error
	if c.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	c.language = languageNamed(c.language)
	t, err := c.toolchain(dir)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(t.tool); err != nil {
		return fmt.Errorf("%s is needed for a module in %s, and is not installed: %s", t.tool, t.language, t.missing)
	}
	if c.out == "" {
		c.out = filepath.Join(dir, filepath.Base(c.dir)+".wasm")
	}
	if err := c.build(cmd.Context(), t, cmd); err != nil {
		return err
	}
	content, err := os.ReadFile(c.out)
	if err != nil {
		return err
	}
	is, err := c.tools.Inspect(cmd.Context(), workbench.Module{Name: c.out, Content: content})
	if err != nil {
		return &outcome{statusFound, fmt.Sprintf("%s: %v", c.out, err)}
	}
	if c.format.forPrograms() {
		err = c.format.value(cmd.OutOrStdout(), is)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes, %s; converts %s\n", c.out, is.Size, orNone(is.Hooks), orNone(is.Conversions))
	}
	if err == nil && is.Problem != "" {
		return &outcome{statusFound, fmt.Sprintf("%s was built, and a gateway would not take it: %s", c.out, is.Problem)}
	}
	return err
}

func orNone(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// toolchain is that of the language, or of the files that are in the folder.
func (c *buildCommand) toolchain(dir string) (*toolchain, error) {
	var signs []string
	for i := range toolchains {
		t := &toolchains[i]
		if c.language == t.language {
			return t, nil
		}
		if t.sign == "" {
			continue
		}
		signs = append(signs, t.sign)
		if _, err := os.Stat(filepath.Join(c.dir, t.sign)); c.language == "" && err == nil {
			return t, nil
		}
	}
	if c.language != "" {
		return nil, fmt.Errorf("--language %s is not known: want one of %s", c.language, strings.Join(languagesBuilt(), ", "))
	}
	if _, err := os.Stat(filepath.Join(c.dir, "rules.yaml")); err == nil {
		return nil, fmt.Errorf("%s has rules, of which nothing is built: wasmgate module fuzz %s", dir, filepath.Join(dir, "rules.yaml"))
	}
	return nil, fmt.Errorf("%s is no project: it has none of %s; begin one with: wasmgate module init", dir, strings.Join(signs, ", "))
}

// build runs the tool in the project's folder, and sees to it that the module is where it
// is to be. What the tool says goes to the errors of the command.
func (c *buildCommand) build(ctx context.Context, t *toolchain, cmd *cobra.Command) error {
	out, err := filepath.Abs(c.out)
	if err != nil {
		return err
	}
	args := t.args
	if t.made == "" {
		args = append(args[:len(args):len(args)], "-o", out, ".")
	}
	run := exec.CommandContext(ctx, t.tool, args...)
	run.Dir, run.Env = c.dir, append(os.Environ(), t.env...)
	run.Stdout, run.Stderr = cmd.ErrOrStderr(), cmd.ErrOrStderr()
	if err := run.Run(); err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return &outcome{statusFound, fmt.Sprintf("%s %s failed (%v)", t.tool, strings.Join(args, " "), err)}
		}
		return err
	}
	if t.made == "" {
		return nil
	}
	var made []string
	for _, pattern := range strings.Fields(t.made) {
		if made, err = fs.Glob(os.DirFS(c.dir), pattern); err != nil { // the folder's own name is no pattern
			return err
		}
		if len(made) > 0 {
			break
		}
	}
	if len(made) != 1 {
		return &outcome{statusFound, fmt.Sprintf("%s left %d files as %s in %s, and one was expected: remove what is old", t.tool, len(made), t.made, c.dir)}
	}
	it := filepath.Join(c.dir, filepath.FromSlash(made[0]))
	if it == out {
		return nil
	}
	content, err := os.ReadFile(it)
	if err != nil {
		return err
	}
	return writeFile(c.out, content)
}
