// Package order owns the order of admission plugins: what they are called, whether
// they are on unless somebody says otherwise, and when they are asked.
//
// It must not know what any of them does.
package order

import "slices"

// The admission plugins that there are, by kube-apiserver's names where it has them.
const (
	AlwaysAdmit                   = "AlwaysAdmit"
	AlwaysPullImages              = "AlwaysPullImages"
	CertificateApproval           = "CertificateApproval"
	CertificateSigning            = "CertificateSigning"
	CertificateSubjectRestriction = "CertificateSubjectRestriction"
	NamespaceAutoProvision        = "NamespaceAutoProvision"
	NamespaceExists               = "NamespaceExists"
	NamespaceLifecycle            = "NamespaceLifecycle"
	ConversionLoss                = "ConversionLoss"
	LimitPodHardAntiAffinity      = "LimitPodHardAntiAffinityTopology"
	LimitRanger                   = "LimitRanger"
	ModulePermission              = "ModulePermission"
	ModuleProof                   = "ModuleProof"
	RulesProof                    = "RulesProof"
	WebhookProof                  = "WebhookProof"
	ModuleReference               = "ModuleReference"
	ModuleStatus                  = "ModuleStatus"
	MutatingAdmissionPolicy       = "MutatingAdmissionPolicy"
	MutatingAdmissionWebhook      = "MutatingAdmissionWebhook"
	ServiceAccount                = "ServiceAccount"
	ServiceAllocation             = "ServiceAllocation"
	DefaultIngressClass           = "DefaultIngressClass"
	DefaultStorageClass           = "DefaultStorageClass"
	DenyServiceExternalIPs        = "DenyServiceExternalIPs"
	DeviceAdmin                   = "DeviceAdmin"
	DeviceStatus                  = "DeviceStatus"
	EventRateLimit                = "EventRateLimit"
	ExtendedResourceToleration    = "ExtendedResourceToleration"
	OwnerReferences               = "OwnerReferencesPermissionEnforcement"
	PersistentVolumeClaimResize   = "PersistentVolumeClaimResize"
	PodNodeSelector               = "PodNodeSelector"
	PodSecurity                   = "PodSecurity"
	PodTolerationRestriction      = "PodTolerationRestriction"
	PodTopologyLabels             = "PodTopologyLabels"
	TaintNodesByCondition         = "TaintNodesByCondition"
	DefaultTolerationSeconds      = "DefaultTolerationSeconds"
	RuntimeClass                  = "RuntimeClass"
	Priority                      = "Priority"
	StorageObjectInUseProtection  = "StorageObjectInUseProtection"
	RoleEscalation                = "RoleEscalation"
	PolicyParameters              = "PolicyParameters"
	ValidatingAdmissionPolicy     = "ValidatingAdmissionPolicy"
	ValidatingAdmissionWebhook    = "ValidatingAdmissionWebhook"
	ResourceQuota                 = "ResourceQuota"
)

// Default is what a plugin is unless it is switched.
type Default int

// What there can be at a name.
const (
	Unknown Default = iota
	// Absent is a plugin of kube-apiserver's that is not here.
	Absent
	Off
	On
	// Always cannot be switched off: it is part of what the server is.
	Always
)

// Stages are when a plugin is asked.
type Stages int

// The stages; a plugin has some of them.
const (
	Mutates Stages = 1 << iota
	Validates
	Charges // when a write is committed
)

// Has reports whether s is among them.
func (all Stages) Has(s Stages) bool { return all&s != 0 }

// Place is a line of the order.
type Place struct {
	Name string
	Is   Default
	Stages
}

// Plugins is the order in which plugins are asked, in each of their stages. A plugin
// with two lines is asked twice. It is only to be read.
var Plugins = []Place{
	{PolicyParameters, Always, Validates}, // which kube-apiserver does where it validates
	{AlwaysAdmit, Off, Validates},
	{NamespaceAutoProvision, Off, Mutates},
	{NamespaceLifecycle, Always, Mutates},
	{NamespaceExists, Off, Validates},
	{LimitPodHardAntiAffinity, Off, Validates},
	{ModulePermission, Always, Validates},
	{ModuleReference, Always, Validates},
	{ConversionLoss, Always, Validates},
	{LimitRanger, On, Mutates | Validates},
	{ServiceAccount, Off, Mutates | Validates},
	{ModuleStatus, Always, Validates},
	{TaintNodesByCondition, On, Mutates},
	{AlwaysPullImages, Off, Mutates},
	{PodNodeSelector, Off, Mutates},
	{DefaultStorageClass, On, Mutates},
	{DefaultIngressClass, On, Mutates},
	{PodTopologyLabels, On, Mutates},
	{MutatingAdmissionPolicy, On, Mutates},
	{MutatingAdmissionWebhook, On, Mutates},
	{LimitRanger, On, Mutates},     // about what these added
	{ServiceAccount, Off, Mutates}, // too
	{DeviceAdmin, Always, Mutates},
	{DeviceStatus, Always, Mutates}, // looks at what the others made of it, too
	{ServiceAllocation, Always, Mutates},
	{DefaultTolerationSeconds, On, Mutates},
	{PodTolerationRestriction, Off, Mutates},
	{ExtendedResourceToleration, Off, Mutates},
	{RuntimeClass, On, Mutates},
	{Priority, On, Mutates | Validates},
	{StorageObjectInUseProtection, On, Mutates},
	{RoleEscalation, Always, Mutates}, // looks at what the others made of it
	{AlwaysPullImages, Off, Validates},
	{PodSecurity, On, Validates},
	{PodNodeSelector, Off, Validates},
	{PodTolerationRestriction, Off, Validates},
	{EventRateLimit, Off, Validates},
	{OwnerReferences, Off, Validates},
	{PersistentVolumeClaimResize, On, Validates},
	{CertificateApproval, On, Validates},
	{CertificateSigning, On, Validates},
	{CertificateSubjectRestriction, On, Validates},
	{DenyServiceExternalIPs, Off, Validates},
	{ValidatingAdmissionPolicy, On, Validates},
	{ValidatingAdmissionWebhook, On, Validates},
	{RulesProof, Always, Validates},
	{WebhookProof, Always, Validates},
	{ModuleProof, Always, Validates}, // last, as it takes longest
	{ResourceQuota, On, Charges},
}

// absent are kube-apiserver's others.
var absent = []string{
	"AlwaysDeny", "ClusterTrustBundleAttest", "ImagePolicyWebhook", "JobValidation", "NodeDeclaredFeatureValidator", "NodeRestriction",
	"PodGroupProtection", "PodGroupWorkloadExists", "PodResizeValidator",
}

// DefaultOf is what there is at the name of a plugin.
func DefaultOf(name string) Default {
	for _, p := range Plugins {
		if p.Name == name {
			return p.Is
		}
	}
	if slices.Contains(absent, name) {
		return Absent
	}
	return Unknown
}
