package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// arguments wants from least to most arguments, and otherwise says which.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return mistake{fmt.Errorf("an argument is missing\nUsage: %s", cmd.UseLine())}
		case len(args) > most:
			return mistake{fmt.Errorf("unexpected argument %q\nUsage: %s", args[most], cmd.UseLine())}
		}
		return nil
	}
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
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return mistake{fmt.Errorf("unknown command %q%s\nSee '%s --help'", args[0], meant, cmd.CommandPath())}
}
