package options

import (
	"slices"
	"strings"
)

// The admission plugins that can be switched, by kube-apiserver's names.
const (
	NamespaceAutoProvision     = "NamespaceAutoProvision"
	LimitRanger                = "LimitRanger"
	ResourceQuota              = "ResourceQuota"
	MutatingAdmissionPolicy    = "MutatingAdmissionPolicy"
	MutatingAdmissionWebhook   = "MutatingAdmissionWebhook"
	ValidatingAdmissionPolicy  = "ValidatingAdmissionPolicy"
	ValidatingAdmissionWebhook = "ValidatingAdmissionWebhook"
)

// onByDefault and offByDefault are the plugins that there are.
var (
	onByDefault = []string{
		LimitRanger, MutatingAdmissionPolicy, MutatingAdmissionWebhook, ResourceQuota, ValidatingAdmissionPolicy, ValidatingAdmissionWebhook,
	}
	offByDefault = []string{NamespaceAutoProvision}
)

// always are part of what the server is: their flags may say so, and no more.
var always = []string{"DefaultTolerationSeconds", "NamespaceLifecycle", "Priority", "RuntimeClass", "StorageObjectInUseProtection"}

// absent are kube-apiserver's others. Who switches one off gets that.
var absent = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction",
	"ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration",
	"ImagePolicyWebhook", "LimitPodHardAntiAffinityTopology", "NamespaceExists", "NodeDeclaredFeatureValidator", "NodeRestriction",
	"OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "PodNodeSelector", "PodSecurity", "PodTolerationRestriction",
	"PodTopologyLabels", "ServiceAccount", "TaintNodesByCondition",
}

// Plugins names the plugins that can be switched on and off, for help.
func Plugins() string {
	return strings.Join(onByDefault, ", ") + " (on by default), " + strings.Join(offByDefault, ", ")
}

// Admits tells whether an admission plugin is on.
func (s Serve) Admits(plugin string) bool {
	on := slices.Contains(onByDefault, plugin) || slices.Contains(s.EnableAdmissionPlugins, plugin)
	return on && !slices.Contains(s.DisableAdmissionPlugins, plugin)
}

func (s Serve) validatePlugins(bad func(flag, format string, args ...any)) {
	const enable, disable = "enable-admission-plugins", "disable-admission-plugins"
	known := slices.Concat(onByDefault, offByDefault, always)
	for _, p := range s.EnableAdmissionPlugins {
		switch {
		case slices.Contains(s.DisableAdmissionPlugins, p):
			bad(enable, "%s is in --%s, too", p, disable)
		case slices.Contains(absent, p):
			bad(enable, "there is no %s here, so it could not be relied on", p)
		case !slices.Contains(known, p):
			bad(enable, "there is no plugin %q", p)
		}
	}
	for _, p := range s.DisableAdmissionPlugins {
		switch {
		case slices.Contains(always, p):
			bad(disable, "%s is always on", p)
		case !slices.Contains(known, p) && !slices.Contains(absent, p):
			bad(disable, "there is no plugin %q", p)
		}
	}
}
