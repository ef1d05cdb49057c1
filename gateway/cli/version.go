package cli

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/lifecycle"
)

func newVersion() *cobra.Command {
	var format output
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if format.forPrograms() {
				return format.value(cmd.OutOrStdout(), map[string]string{"version": Version(), "goVersion": runtime.Version(), "platform": platform})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "wasmgate %s %s %s\n", Version(), runtime.Version(), platform)
			return err
		},
	}
	format.add(cmd, asJSON, asYAML)
	return cmd
}

// Version is the version that this program was built as: that of the module if
// it was built by version, else the commit, else "devel".
func Version() string { return versionOf(lifecycle.Built()) }

// versionOf is the version of a build.
func versionOf(b lifecycle.Build) string {
	if b.Version != "" {
		return b.Version
	}
	dirty := ""
	if b.Modified {
		dirty = "-dirty"
	}
	return strings.TrimSuffix("devel-"+b.Commit[:min(12, len(b.Commit))]+dirty, "-")
}

// shellQuote quotes a path for a POSIX shell where that is needed.
func shellQuote(s string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
