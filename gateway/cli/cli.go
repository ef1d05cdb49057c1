package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// Runner runs a gateway until ctx ends, then shuts it down in good order. It
// calls started once, when the gateway is ready.
type Runner func(ctx context.Context, o options.Serve, log zerolog.Logger, started func(options.Started)) error

// Parts are what the commands run that are no clients.
type Parts struct {
	Serve   Runner
	Webhook WebhookRunner
	Tools   workbench.Tools
}

// Main runs the command line of the process and returns its exit status.
// SIGINT and SIGTERM end what runs in good order; a second one ends the
// process at once.
func Main(parts Parts) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		again := make(chan os.Signal, 1)
		signal.Notify(again, syscall.SIGINT, syscall.SIGTERM)
		<-again
		os.Exit(1)
	}()
	root := New(parts)
	root.SetArgs(typed(os.Args))
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		printError(os.Stderr, err)
	}
	return exitStatus(cmd, err)
}

// printError tells why a command failed, but not what URLs in that tell of credentials: it
// is kept in logs of services and of builds.
func printError(out io.Writer, err error) { fmt.Fprintln(out, "Error:", excerpt.RedactedError(err)) }

// exitStatus is what the process exits with after a command: 0 if it did what it is for, 2 if the
// command line is not as it has to be, and else 1, but for commands that say what else they exit with.
func exitStatus(cmd *cobra.Command, err error) int {
	var found *outcome
	switch {
	case err == nil:
		return 0
	case errors.As(err, &found):
		return found.status
	case errors.As(err, new(mistake)), errors.As(err, new(options.Mistake)):
		return statusMistake
	case errors.As(err, new(failure)):
		return 1
	}
	if _, ok := cmd.Annotations[mistakesAre]; ok {
		return statusMistake
	}
	return 1
}

// typed is what was typed behind the program's name. Flags without a command are
// those of serve, as is everything where the program is called kube-apiserver: so it
// can stand in for that, which leaves controllers to another program.
func typed(argv []string) []string {
	args := argv[1:]
	of := func(flag string) bool { return len(args) > 0 && args[0] == flag }
	switch {
	case filepath.Base(argv[0]) == "kube-apiserver":
		return append([]string{"serve", "--controllers="}, args...)
	case of("--version"):
	case len(args) > 0 && strings.HasPrefix(args[0], "--") && !of("--help"):
		return append([]string{"serve"}, args...)
	}
	return args
}

// New returns the root command.
func New(parts Parts) *cobra.Command {
	tools := parts.Tools
	root := commands("wasmgate", "The Kubernetes API over etcd, extended by WebAssembly modules",
		newServe(parts.Serve), newWebhook(parts.Webhook), newMigrate(), newPlan(), newModule(tools), newConvert(tools), newLint(), newEnvtest(), newVersionPriority(), newVersion(), newCompletion())
	root.SetHelpCommand(newHelp())
	root.Long = "wasmgate serves the Kubernetes API over etcd in one binary. Custom resources are\n" +
		"converted between their versions by sandboxed WebAssembly modules.\n\n" +
		"The exit status is 0 if a command succeeded, 2 if the command line is wrong, and 1 otherwise;\n" +
		"a command with other statuses lists them in its --help."
	root.Version = Version()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(suggestFlag)
	return root
}
