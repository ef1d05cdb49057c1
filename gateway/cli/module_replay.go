package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// failedCall is a call that failed and that the gateway kept.
type failedCall struct {
	ID      string           `json:"id"`
	Hook    string           `json:"hook"`
	Digest  string           `json:"digest"`
	Config  []byte           `json:"config"`
	Limits  workbench.Limits `json:"limits"`
	Request []byte           `json:"request"`
	Error   string           `json:"error"`
	Times   int              `json:"times"`
	Last    metav1.Time      `json:"last"`
}

// replayCommand is one run of `wasmgate module replay`.
type replayCommand struct {
	tools   workbench.Tools
	client  clientFlags
	objects []string
	format  output
}

func newModuleReplay(tools workbench.Tools) *cobra.Command {
	c := &replayCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "replay ID [FILE.wasm]",
		Short: "Repeat a call that failed in the gateway, in this process",
		Long: "Fetch a failed call from the gateway: its request, the configuration and the limits.\n" +
			"Repeat it in this process with the content that was called, or with a file, and print\n" +
			"why it fails, where in the module, what the module logged, and the fuel and memory it\n" +
			"used. `wasmgate module logs NAME` shows the IDs.\n\n" +
			"A gateway keeps its last failed calls for an hour at most, and only if it was started\n" +
			"with --module-failed-calls. Objects that the module looked up are not kept: give them\n" +
			"with --objects.\n\n" +
			"The status is 0 if the call succeeds here, 1 if it fails or is refused, or the gateway\n" +
			"does not answer, and 2 if the command line is wrong, or the gateway that\n" +
			"answers has no such call.",
		Example: "  wasmgate module logs crontab\n" +
			"  wasmgate module replay crontab.5d41402abc4b\n" +
			"  wasmgate module replay crontab.5d41402abc4b mended.wasm",
		Args:              arguments(1, 2),
		ValidArgsFunction: c.completeCalls,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error { return c.run(ctx, cmd, cfg, args) })
		},
	}
	cmd.Flags().StringSliceVar(&c.objects, "objects", nil, "`files` and folders with objects that the module may look up")
	c.client.add(cmd, 5*time.Minute)
	c.format.add(cmd, asJSON, asYAML)
	return cmd
}

func (c *replayCommand) run(ctx context.Context, cmd *cobra.Command, cfg *rest.Config, args []string) error {
	end := strings.LastIndex(args[0], ".")
	if end <= 0 {
		return fmt.Errorf("%q is no ID of a call, which is NAME.DIGITS: see wasmgate module logs NAME", args[0])
	}
	name := args[0][:end]
	content, objects, err := c.files(cmd, args[1:])
	if err != nil {
		return err
	}
	call, err := findCall(ctx, cfg, name, args[0])
	if err != nil {
		return err
	}
	what := workbench.Request{Review: call.Request, Objects: objects, Module: workbench.Module{Name: name, Content: content, Config: call.Config, Limits: call.Limits}}
	if len(args) == 1 {
		if what.Content, err = download(ctx, cfg, name, call.Digest); err != nil {
			return fmt.Errorf("%w\nThe content that was called may be gone; name a file with it", err)
		}
	}
	got, err := c.tools.Answer(ctx, what)
	if err != nil {
		return err
	}
	if !c.format.forPrograms() {
		printCall(cmd.OutOrStdout(), call)
	}
	return answered(cmd.OutOrStdout(), &c.format, got)
}

// files reads what the command line names: a module, if it does, and objects.
func (c *replayCommand) files(cmd *cobra.Command, module []string) (content []byte, objects [][]byte, err error) {
	if len(module) > 0 {
		if content, err = os.ReadFile(module[0]); err != nil {
			return nil, nil, err
		}
	}
	objects, err = readObjects(c.objects, cmd)
	return content, objects, err
}

func printCall(out io.Writer, call *failedCall) {
	fmt.Fprintf(out, "%s: %s of %s failed in the gateway %s, the last time at %s:\n  %s\nHere:\n", call.ID, call.Hook, shortDigest(call.Digest),
		counted(int64(call.Times), "time"), call.Last.UTC().Format(time.RFC3339), oneLine(call.Error))
}

// findCall is the call with that ID.
func findCall(ctx context.Context, cfg *rest.Config, module, id string) (*failedCall, error) {
	calls, err := callsOf(ctx, cfg, module)
	if err != nil {
		return nil, err
	}
	for i := range calls {
		if calls[i].ID == id {
			return &calls[i], nil
		}
	}
	return nil, fmt.Errorf("the gateway that answers has no call %q: it keeps the last ones, for an hour at most; it has %s of wasmmodule/%s", id, counted(int64(len(calls)), "call"), module)
}

// callsOf are the failed calls of a module that the gateway keeps.
func callsOf(ctx context.Context, cfg *rest.Config, module string) ([]failedCall, error) {
	client, err := modulesClient(cfg)
	if err != nil {
		return nil, err
	}
	result := client.Get().Resource(modules.Resource).Name(module).SubResource("failures").Do(ctx)
	if err := result.Error(); err != nil { // says more than Raw's, and whether there is no module
		return nil, noModule(module, err)
	}
	text, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var list struct{ Items []failedCall }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, failure{fmt.Errorf("the failed calls of wasmmodule/%s cannot be read: %w", module, err)}
	}
	return list.Items, nil
}

// completeCalls completes a first argument that is the ID of a call; the second is a file.
func (c *replayCommand) completeCalls(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names, directive := c.client.namesOf(cmd, modules)
	_ = c.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
		for _, name := range names {
			calls, err := callsOf(ctx, cfg, name)
			if err != nil {
				return err
			}
			for _, call := range calls {
				ids = append(ids, call.ID)
			}
		}
		return nil
	})
	return ids, directive
}
