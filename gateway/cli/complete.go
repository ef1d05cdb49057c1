package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// completionTime bounds how long a shell waits for the names of modules.
const completionTime = 3 * time.Second

// completeModules completes a first argument that is the name of a module. A gateway
// that does not answer has no names; arguments after the first are files.
func (f *clientFlags) completeModules(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if cmd.Context() == nil {
		cmd.SetContext(context.Background())
	}
	f.timeout = min(f.timeout, completionTime)
	var names []string
	err := f.withModules(cmd, func(ctx context.Context, objects dynamic.ResourceInterface) error {
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			names = append(names, list.Items[i].GetName())
		}
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
