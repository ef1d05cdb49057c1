package schema

// merged says how values are merged where strategic merge patch's tags say
// nothing, or something else: Kubernetes says so in comments of the source
// only. It is by struct ([Name]) and by field of one:
//
//   - atomic: owned and replaced as a whole; granular: not so, though the type is
//   - set: a list of different values
//   - the keys of a list that is a map, with the default of one (key=value) where
//     it is not the zero value, or may be left out
//
// A test compares what comes of it with the schemas that client-go has, for all
// kinds that are served.
var merged = map[string]string{
	"apiextensions/v1.CustomResourceDefinitionStatus.conditions": "type",

	"admissionregistration/v1.MatchResources":                                         "atomic",
	"admissionregistration/v1.NamedRuleWithOperations":                                "atomic",
	"admissionregistration/v1.ParamKind":                                              "atomic",
	"admissionregistration/v1.ParamRef":                                               "atomic",
	"admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec.validationActions": "set",
	"admissionregistration/v1.ValidatingAdmissionPolicyStatus.conditions":             "type",
	"admissionregistration/v1.Variable":                                               "atomic",

	"autoscaling/v1.CrossVersionObjectReference": "atomic",

	"batch/v1.JobStatus.conditions":                          "atomic",
	"batch/v1.PodFailurePolicyOnExitCodesRequirement.values": "set",
	"batch/v1.UncountedTerminatedPods.failed":                "set",
	"batch/v1.UncountedTerminatedPods.succeeded":             "set",

	"certificates/v1.CertificateSigningRequestStatus.conditions": "type",

	"core/v1.ConfigMapKeySelector":                            "atomic",
	"core/v1.Container.ports":                                 "containerPort protocol=TCP",
	"core/v1.ContainerRestartRuleOnExitCodes.values":          "set",
	"core/v1.EndpointAddress":                                 "atomic",
	"core/v1.EndpointPort":                                    "atomic",
	"core/v1.EphemeralContainer.ports":                        "containerPort protocol=TCP",
	"core/v1.EvictionResponder":                               "atomic",
	"core/v1.FileKeySelector":                                 "atomic",
	"core/v1.LocalObjectReference":                            "atomic",
	"core/v1.NodeAllocatableResourceClaimStatus.containers":   "set",
	"core/v1.NodePodPreemptionPolicy.disableResizePreemption": "set",
	"core/v1.NodeSelector":                                    "atomic",
	"core/v1.NodeSelectorTerm":                                "atomic",
	"core/v1.ObjectFieldSelector":                             "atomic",
	"core/v1.ObjectReference":                                 "atomic",
	"core/v1.PersistentVolumeSpec.claimRef":                   "granular",
	"core/v1.PodSpec.imagePullSecrets":                        "name=",
	"core/v1.PodSpec.nodeSelector":                            "atomic",
	"core/v1.PodSpec.topologySpreadConstraints":               "topologyKey whenUnsatisfiable",
	"core/v1.PodStatus.hostIPs":                               "atomic",
	"core/v1.PodStatus.volumeHealth":                          "name",
	"core/v1.PodVolumeHealth.healthConditions":                "status reason",
	"core/v1.ReplicationControllerSpec.selector":              "atomic",
	"core/v1.ResourceFieldSelector":                           "atomic",
	"core/v1.ResourceRequirements.claims":                     "name",
	"core/v1.ResourceStatus.resources":                        "resourceID",
	"core/v1.ScopeSelector":                                   "atomic",
	"core/v1.SecretKeySelector":                               "atomic",
	"core/v1.SecretReference":                                 "atomic",
	"core/v1.ServiceSpec.ports":                               "port protocol=TCP",
	"core/v1.ServiceSpec.selector":                            "atomic",
	"core/v1.TopologySelectorTerm":                            "atomic",
	"core/v1.TypedLocalObjectReference":                       "atomic",
	"core/v1.VolumeHealthStatus.healthConditions":             "status reason",
	"core/v1.VolumeMount.bindMountOptions":                    "set",

	"discovery/v1.Endpoint.addresses": "set",
	"discovery/v1.EndpointPort":       "atomic",

	"flowcontrol/v1.NonResourcePolicyRule.nonResourceURLs": "set",
	"flowcontrol/v1.NonResourcePolicyRule.verbs":           "set",
	"flowcontrol/v1.ResourcePolicyRule.apiGroups":          "set",
	"flowcontrol/v1.ResourcePolicyRule.namespaces":         "set",
	"flowcontrol/v1.ResourcePolicyRule.resources":          "set",
	"flowcontrol/v1.ResourcePolicyRule.verbs":              "set",

	"meta/v1.LabelSelector":  "atomic",
	"meta/v1.OwnerReference": "atomic",

	"networking/v1.ServiceBackendPort": "atomic",

	"node/v1.Scheduling.nodeSelector": "atomic",

	"rbac/v1.RoleRef": "atomic",
	"rbac/v1.Subject": "atomic",

	"resource/v1.AllocatedDeviceStatus.conditions":                 "type",
	"resource/v1.DeviceRequestAllocationResult.skipNodeOperations": "set",
	"resource/v1.ResourceClaimStatus.devices":                      "driver device pool shareID",
	"resource/v1.ResourceSliceSpec.skipNodeOperations":             "set",

	"storage/v1.CSIDriverSpec.volumeLifecycleModes": "set",
}
