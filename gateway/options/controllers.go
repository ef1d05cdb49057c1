package options

import (
	"slices"
	"strings"
)

// The controllers that can be turned off, by kube-controller-manager's names: it has
// them, too.
const (
	CertificateCleaner              = "certificatesigningrequest-cleaner-controller"
	CertificateSigning              = "certificatesigningrequest-signing-controller"
	ClusterRoleAggregation          = "clusterrole-aggregation-controller"
	GarbageCollector                = "garbage-collector-controller"
	Namespaces                      = "namespace-controller"
	PersistentVolumeClaims          = "persistentvolumeclaim-protection-controller"
	PersistentVolumes               = "persistentvolume-protection-controller"
	RootCertificates                = "root-ca-certificate-publisher-controller"
	TokenCleaner                    = "token-cleaner-controller"
	ServiceAccounts                 = "serviceaccount-controller"
	ResourceQuotas                  = "resourcequota-controller"
	StorageVersionMigrator          = "storage-version-migrator-controller"
	ValidatingAdmissionPolicyStatus = "validatingadmissionpolicy-status-controller"
	VolumeAttributesClasses         = "volumeattributesclass-protection-controller"
)

var controllers = []string{
	CertificateCleaner, CertificateSigning, ClusterRoleAggregation, GarbageCollector, Namespaces, PersistentVolumes, PersistentVolumeClaims,
	ResourceQuotas, RootCertificates, ServiceAccounts, StorageVersionMigrator, TokenCleaner, ValidatingAdmissionPolicyStatus, VolumeAttributesClasses,
}

// controllerAliases are kube-controller-manager's earlier names.
var controllerAliases = map[string]string{
	"csrcleaner": CertificateCleaner, "csrsigning": CertificateSigning,
	"clusterrole-aggregation": ClusterRoleAggregation, "garbagecollector": GarbageCollector, "namespace": Namespaces, "pv-protection": PersistentVolumes,
	"pvc-protection": PersistentVolumeClaims, "resourcequota": ResourceQuotas, "root-ca-cert-publisher": RootCertificates, "serviceaccount": ServiceAccounts,
	"tokencleaner": TokenCleaner,
}

// everyController stands for all of them in a list.
const everyController = "*"

// Controllers names the controllers that can be turned off, for help.
func Controllers() string { return strings.Join(controllers, ", ") }

// Runs reports whether a controller is on: one that the list names, or "*" without
// one that names it behind a "-". The first that is said of it counts.
func (s Serve) Runs(controller string) bool {
	for _, said := range s.Controllers {
		name, off := canonical(said)
		if name == controller {
			return !off
		}
	}
	return slices.Contains(s.Controllers, everyController)
}

// canonical is the controller that an element of the list names, and whether it is
// turned off.
func canonical(said string) (name string, off bool) {
	name, off = strings.CutPrefix(said, "-")
	if now, ok := controllerAliases[name]; ok {
		name = now
	}
	return name, off
}

func (s Serve) validateControllers(bad func(flag, format string, args ...any)) {
	for _, said := range s.Controllers {
		if name, _ := canonical(said); said != everyController && !slices.Contains(controllers, name) {
			bad("controllers", "%q is not in the list of known controllers: %s", name, Controllers())
		}
	}
}
