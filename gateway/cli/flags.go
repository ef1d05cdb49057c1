package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/conversion/draft/spelling"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// envPrefix begins the environment variables that stand for flags.
const envPrefix = "WASMGATE_"

// flagGroup is a headed part of a command's flags.
type flagGroup struct {
	title string
	*pflag.FlagSet
}

func newGroup(title string) flagGroup {
	set := pflag.NewFlagSet(title, pflag.ContinueOnError)
	set.SortFlags = false // in the order of importance
	return flagGroup{title, set}
}

// addGroups adds the flags of all groups to a command and prints them under
// their headings in its usage.
func addGroups(cmd *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.FlagSet)
	}
	outdate(cmd.Flags(), lifecycle.Flags, lifecycle.Current)
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		fmt.Fprintf(out, "Usage:\n  %s\n", cmd.UseLine())
		for _, g := range groups {
			fmt.Fprintf(out, "\n%s:\n%s", g.title, g.FlagUsagesWrapped(100))
		}
		fmt.Fprintf(out, "\nEvery flag can be set by an environment variable, too: --data-dir is %sDATA_DIR.\n", envPrefix)
		return nil
	})
}

// outdate has deprecated flags say so, in the usage and to who sets them. They still
// work.
func outdate(flags *pflag.FlagSet, lives map[string]lifecycle.Life, now lifecycle.Release) {
	for name, life := range lives {
		f := flags.Lookup(name)
		if f == nil || !life.IsDeprecated(now) {
			continue
		}
		f.Deprecated = fmt.Sprintf("from %s; it still works", life.Deprecated)
		if life.Replacement != "" {
			f.Deprecated += ", use --" + life.Replacement
		}
	}
}

// fromEnv sets the flags that were not given on the command line from the
// environment.
func fromEnv(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if _, ours := f.Annotations[cobra.FlagSetByCobraAnnotation]; ours || !ok || f.Changed || err != nil || f.Name == "help" {
			return
		}
		if serr := flags.Set(f.Name, value); serr != nil {
			err = mistake{fmt.Errorf("environment variable %s: %w", name, valueError(serr))}
		}
	})
	return err
}

// suggestFlag adds the flag that was probably meant to the error about an
// unknown one, and to that about a value what it may be.
func suggestFlag(cmd *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	meant := ""
	switch {
	case errors.As(err, &wrong):
		err = fmt.Errorf("--%s: %w", wrong.GetFlag().Name, valueError(err))
	case errors.As(err, &unknown):
		if flag := nearest(cmd.Flags(), unknown); flag != "" {
			meant = "; did you mean --" + flag + "?"
		}
	}
	return mistake{fmt.Errorf("%w%s\nSee '%s --help'", err, meant, cmd.CommandPath())}
}

// nearest is the flag that was probably meant, "" for none: one that begins so, or that is
// spelled nearly so, or that has one dash too few.
func nearest(flags *pflag.FlagSet, unknown *pflag.NotExistError) string {
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name, _, _ = strings.Cut(short, "=")
		if len(name) < 3 || flags.Lookup(name) == nil {
			return ""
		}
		return name
	}
	best, distance := "", len(name)/2+1
	var begin []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if d := spelling.Distance(name, f.Name); d < distance {
			best, distance = f.Name, d
		}
		if strings.HasPrefix(f.Name, name+"-") {
			begin = append(begin, f.Name)
		}
	})
	if best == "" && len(begin) == 1 {
		return begin[0]
	}
	return best
}

// moduleMemory are the flags of what modules may take where they run: memory of idle
// instances and of compiling in bytes, and processor time of compiling.
func moduleMemory(f flagGroup, idle, compile *int64, of *time.Duration) {
	f.Int64Var(idle, "module-idle-memory", *idle, "how many `bytes` of memory all idle instances of modules may keep together; 0 means no limit")
	f.Int64Var(compile, "module-compile-memory", *compile, "how many `bytes` of memory the compilation of a module may use; 0 means no limit")
	f.DurationVar(of, "module-compile-time", *of, "how much processor time the compilation of a module may use, in whole seconds; 0 means no limit")
}
