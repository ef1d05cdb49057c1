// Package all owns the list of kinds that are more than stored.
//
// It must not know what a kind does, nor in which order the gateway starts.
package all

import (
	"context"
	"slices"

	"github.com/wasmgate/wasmgate/gateway/bounds/flowcontrol"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/accessreview"
	"github.com/wasmgate/wasmgate/gateway/kinds/apiservice"
	"github.com/wasmgate/wasmgate/gateway/kinds/bootstraptoken"
	"github.com/wasmgate/wasmgate/gateway/kinds/componentstatus"
	"github.com/wasmgate/wasmgate/gateway/kinds/conversionreview"
	"github.com/wasmgate/wasmgate/gateway/kinds/conversionrules"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/event"
	"github.com/wasmgate/wasmgate/gateway/kinds/guardreport"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
	modulekind "github.com/wasmgate/wasmgate/gateway/kinds/module/kind"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
	"github.com/wasmgate/wasmgate/gateway/kinds/pod"
	"github.com/wasmgate/wasmgate/gateway/kinds/policy"
	"github.com/wasmgate/wasmgate/gateway/kinds/priorityclass"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac"
	"github.com/wasmgate/wasmgate/gateway/kinds/service"
	"github.com/wasmgate/wasmgate/gateway/kinds/serviceaccount"
	"github.com/wasmgate/wasmgate/gateway/kinds/signingrequest"
	"github.com/wasmgate/wasmgate/gateway/kinds/storageobject"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// Files are those that flags name about kinds.
func Files(o options.Serve) []options.File {
	return slices.Concat([]options.File{
		{Flag: "module-trust-file", Paths: []string{o.ModuleTrustFile}, Look: func() error { return modulekind.LookAtTrust(o.ModuleTrustFile) }},
		{Flag: "module-registries-file", Paths: []string{o.ModuleRegistriesFile}, Look: func() error { return modulekind.LookAtRegistries(o.ModuleRegistriesFile) }},
	}, serviceaccount.Files(o), signingrequest.Files(o))
}

// Kinds are all of them, in the order of their steps of the start. Each has to be
// closed.
func Kinds(ctx context.Context, c kinds.Config) ([]kinds.Kind, error) {
	modules, err := modulekind.New(ctx, c)
	if err != nil {
		return nil, err
	}
	rules := conversionrules.New(c.Log)
	return []kinds.Kind{
		namespace.Kind(c),
		definition.Kind(c, modules, rules),
		modules.Kind(),
		rules.Kind(),
		rbac.Kind(c),
		flowcontrol.Kind(c),
		priorityclass.Kind(c),
		apiservice.Kind(c),
		versionpriority.Kind(c, modules),
		event.Kind(c, gvr.Modules, gvr.Priorities),
		migration.Kind(c),
		policy.Kind(c, modules.Webhooks),
		quota.Kind(c),
		service.Kind(c),
		pod.Kind(c),
		storageobject.Kind(c),
		serviceaccount.Kind(c),
		bootstraptoken.Kind(c),
		signingrequest.Kind(c),
		accessreview.Kind(c),
		conversionreview.Kind(),
		kinds.Reserve(c.Options),
		guardreport.Kind(c),
		componentstatus.Kind(c),
	}, nil
}
