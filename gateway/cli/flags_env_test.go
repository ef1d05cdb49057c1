package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command refuses a variable that none of its flags takes, and says which.
func TestEveryCommandRefusesWhatAVariableSays(t *testing.T) {
	refusing := 0
	for _, line := range commandLines(New(Parts{}), nil) {
		cmd, _, err := New(Parts{}).Find(line)
		if err != nil {
			t.Fatal(line, err)
		}
		typed := ""
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains([]string{"bool", "int", "duration"}, f.Value.Type()) && f.Name != "help" {
				typed = f.Name
			}
		})
		if typed == "" {
			continue
		}
		variable := envPrefix + strings.ToUpper(strings.ReplaceAll(typed, "-", "_"))
		t.Run(strings.Join(line, " "), func(t *testing.T) {
			t.Setenv(variable, "odd")
			said := ""
			for n := range 4 { // as many arguments as it takes
				root := New(Parts{})
				root.SetOut(io.Discard)
				root.SetErr(io.Discard)
				root.SetArgs(append(slices.Clone(line), slices.Repeat([]string{"a"}, n)...))
				if err := root.ExecuteContext(t.Context()); err != nil {
					said += err.Error() + "\n"
				}
			}
			if !strings.Contains(said, "environment variable "+variable) {
				t.Errorf("%s: %s", variable, said)
			}
		})
		refusing++
	}
	if refusing < 20 {
		t.Errorf("only %d commands were asked", refusing)
	}
}

// commandLines are those that do something.
func commandLines(c *cobra.Command, at []string) (all [][]string) {
	for _, sub := range c.Commands() {
		line := append(slices.Clone(at), sub.Name())
		if sub.Name() == "completion" || sub.Name() == "help" { // which are the library's
			continue
		}
		if sub.Runnable() {
			all = append(all, line)
		}
		all = append(all, commandLines(sub, line)...)
	}
	return all
}
