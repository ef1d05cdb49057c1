package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// completionTime bounds how long a shell waits for names.
const completionTime = 3 * time.Second

// completeModules completes a first argument that is the name of a module. Arguments
// after the first are files.
func (f *clientFlags) completeModules(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return f.namesOf(cmd, modules)
}

// completeDefinitions completes arguments that are names of definitions, each once.
func (f *clientFlags) completeDefinitions(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names, directive := f.namesOf(cmd, definitionsResource)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), directive
}

// namesOf are the names of all objects of a kind. A gateway that does not answer has
// none.
func (f *clientFlags) namesOf(cmd *cobra.Command, of schema.GroupVersionResource) (names []string, _ cobra.ShellCompDirective) {
	if cmd.Context() == nil {
		cmd.SetContext(context.Background())
	}
	f.timeout = min(f.timeout, completionTime)
	err := f.run(cmd, func(ctx context.Context, cfg *rest.Config) error {
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		list, err := client.Resource(of).List(ctx, metav1.ListOptions{})
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
