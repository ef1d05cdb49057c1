package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/conversion/draft/spelling"
)

// arguments wants from least to most arguments, and otherwise says which.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return mistake{fmt.Errorf("an argument is missing\nUsage: %s", cmd.UseLine())}
		case len(args) > most:
			return mistake{fmt.Errorf("unexpected argument %q%s\nUsage: %s", args[most], instead(cmd, args), cmd.UseLine())}
		}
		return nil
	}
}

// instead is how what was meant by an argument too many is said.
func instead(cmd *cobra.Command, args []string) (say string) {
	isBool := func(arg string) bool {
		_, err := strconv.ParseBool(arg)
		return err == nil
	}
	if i := slices.IndexFunc(args, isBool); i >= 0 {
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				say = fmt.Sprintf("; to set --%s write --%s=%s", f.Name, f.Name, args[i])
			}
		})
	}
	if say == "" && cmd.Flags().ShorthandLookup("f") != nil {
		say = "; files are named with -f"
	}
	return say
}

// commands is a command that only has others, and prints what they are.
func commands(use, short string, of ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:                        use,
		Short:                      short,
		Args:                       noneOf,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(of...)
	return cmd
}

// noneOf refuses what is no command of cmd.
func noneOf(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	near := cmd.SuggestionsFor(args[0])
	if !cmd.HasParent() && spelling.Distance(args[0], "help") <= cmd.SuggestionsMinimumDistance { // which the library leaves out
		near = append(near, "help")
	}
	if len(near) == 0 { // or that of another command
		for _, of := range cmd.Commands() {
			if below, _, err := of.Find(args[:1]); err == nil && below != of {
				near = append(near, of.Name()+" "+below.Name())
			}
		}
	}
	if len(near) > 0 {
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return mistake{fmt.Errorf("unknown command %q%s\nSee '%s --help'", args[0], meant, cmd.CommandPath())}
}
