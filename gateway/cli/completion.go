package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// shells are those that there are scripts for: how one is printed, with or without what
// commands and flags are for, and how it is loaded.
var shells = []struct {
	name  string
	print func(root *cobra.Command, out io.Writer, descriptions bool) error
	load  string
}{
	{"bash", func(root *cobra.Command, out io.Writer, descriptions bool) error {
		return root.GenBashCompletionV2(out, descriptions)
	},
		"  source <(wasmgate completion bash)\n\nIt needs the package bash-completion. For every new shell:\n\n  wasmgate completion bash > /etc/bash_completion.d/wasmgate"},
	{"zsh", func(root *cobra.Command, out io.Writer, descriptions bool) error {
		if descriptions {
			return root.GenZshCompletion(out)
		}
		return root.GenZshCompletionNoDesc(out)
	}, "  source <(wasmgate completion zsh)\n\nIt needs compinit. For every new shell:\n\n  wasmgate completion zsh > \"${fpath[1]}/_wasmgate\""},
	{"fish", func(root *cobra.Command, out io.Writer, descriptions bool) error {
		return root.GenFishCompletion(out, descriptions)
	}, "  wasmgate completion fish | source\n\nFor every new shell:\n\n  wasmgate completion fish > ~/.config/fish/completions/wasmgate.fish"},
	{"powershell", func(root *cobra.Command, out io.Writer, descriptions bool) error {
		if descriptions {
			return root.GenPowerShellCompletionWithDesc(out)
		}
		return root.GenPowerShellCompletion(out)
	}, "  wasmgate completion powershell | Out-String | Invoke-Expression\n\nFor every new shell, add that to the profile."},
}

// newCompletion is in the place of the library's, which takes any shell and prints its help.
func newCompletion() *cobra.Command {
	var all []*cobra.Command
	for _, shell := range shells {
		var plain bool
		cmd := &cobra.Command{
			Use:                   shell.name,
			Short:                 "Print the script for " + shell.name,
			Long:                  fmt.Sprintf("Print the script for %s that completes commands, flags and names of objects.\nTo load it into the current shell:\n\n%s", shell.name, shell.load),
			Args:                  arguments(0, 0),
			DisableFlagsInUseLine: true,
			ValidArgsFunction:     cobra.NoFileCompletions,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return shell.print(cmd.Root(), cmd.OutOrStdout(), !plain)
			},
		}
		cmd.Flags().BoolVar(&plain, "no-descriptions", false, "leave the descriptions of commands and flags out")
		all = append(all, cmd)
	}
	return commands("completion", "Print a script that completes commands in a shell", all...)
}

// newHelp is in the place of the library's, which ends well whatever it is asked about.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what a command does, and its flags",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if of, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range of.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil {
				return mistake{err}
			}
			if of.HasAvailableSubCommands() {
				err = noneOf(of, rest)
			} else {
				err = arguments(0, 0)(of, rest)
			}
			if err != nil {
				return err
			}
			of.InitDefaultHelpFlag() // which is made when a command runs
			of.InitDefaultVersionFlag()
			of.SetOut(cmd.OutOrStdout())
			return of.Help()
		},
	}
}
