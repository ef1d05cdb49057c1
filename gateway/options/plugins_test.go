package options

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/admission/order"
)

func TestAdmissionPlugins_ADM05(t *testing.T) {
	for _, c := range []struct {
		on, off string
		limits  bool
		makes   bool
		refusal string
	}{
		{"", "", true, false, ""},
		{"NamespaceAutoProvision", "", true, true, ""},
		{"LimitRanger,NamespaceLifecycle", "ResourceQuota", true, false, ""},
		{"", "LimitRanger,NamespaceAutoProvision,ServiceAccount", false, false, ""},
		{"NodeRestriction", "", true, false, "--enable-admission-plugins: there is no NodeRestriction here"},
		{"Odd", "", true, false, `--enable-admission-plugins: there is no plugin "Odd"`},
		{"", "Odd", true, false, `--disable-admission-plugins: there is no plugin "Odd"`},
		{"", "NamespaceLifecycle", true, false, "--disable-admission-plugins: NamespaceLifecycle is always on"},
		{"LimitRanger", "LimitRanger", false, false, "LimitRanger is in --disable-admission-plugins, too"},
	} {
		s := Default()
		s.EnableAdmissionPlugins, s.DisableAdmissionPlugins = words(c.on), words(c.off)
		if s.Admits(order.LimitRanger) != c.limits || s.Admits(order.NamespaceAutoProvision) != c.makes {
			t.Errorf("%q without %q: %v, %v", c.on, c.off, s.Admits(order.LimitRanger), s.Admits(order.NamespaceAutoProvision))
		}
		if err := s.Validate(); (err != nil) != (c.refusal != "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%q without %q: %v", c.on, c.off, err)
		}
	}
}

// The plugins of kube-apiserver 1.36 are known, also those that are not here: to switch one
// of them off is no mistake.
func TestPluginsOfKubeAPIServerAreKnown(t *testing.T) {
	for name := range strings.FieldsSeq("AlwaysAdmit AlwaysDeny AlwaysPullImages CertificateApproval CertificateSigning CertificateSubjectRestriction ClusterTrustBundleAttest DefaultIngressClass DefaultStorageClass DefaultTolerationSeconds DenyServiceExternalIPs EventRateLimit ExtendedResourceToleration ImagePolicyWebhook JobValidation LimitPodHardAntiAffinityTopology LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook NamespaceAutoProvision NamespaceExists NamespaceLifecycle NodeDeclaredFeatureValidator NodeRestriction OwnerReferencesPermissionEnforcement PersistentVolumeClaimResize PodGroupProtection PodGroupWorkloadExists PodNodeSelector PodResizeValidator PodSecurity PodTolerationRestriction PodTopologyLabels Priority ResourceQuota RuntimeClass ServiceAccount StorageObjectInUseProtection TaintNodesByCondition ValidatingAdmissionPolicy ValidatingAdmissionWebhook") {
		if order.DefaultOf(name) == order.Unknown {
			t.Errorf("%s is not known", name)
		}
	}
}

func words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
