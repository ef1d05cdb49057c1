package standards

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// oddSpec is a pod's spec with most of what is taken and probably not meant.
const oddSpec = `"nodeSelector":{"beta.kubernetes.io/os":"linux"},"terminationGracePeriodSeconds":-1,` +
	`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"failure-domain.beta.kubernetes.io/zone","operator":"Exists"}]}]},` +
	`"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"node-role.kubernetes.io/master","operator":"In","values":["a b","c"]}]}}]},` +
	`"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}]},"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"a"}}]}},` +
	`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"beta.kubernetes.io/arch","whenUnsatisfiable":"DoNotSchedule"}],` +
	`"hostAliases":[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"},{"ip":"2001:DB8::1"}],"imagePullSecrets":[{"name":"a"},{"name":"a"},{"name":""}],` +
	`"dnsConfig":{"nameservers":["::ffff:1.2.3.4"]},`

// oddContainers are two containers likewise.
const oddContainers = `"initContainers":[{"name":"first","image":"i","ports":[{"containerPort":80,"name":"web"}],"resources":{"requests":{"memory":"100m"}}}],` +
	`"containers":[{"name":"c","image":"i","ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP","hostIP":"1.2.3.4"},{"containerPort":80,"hostPort":8080},{"containerPort":80,"hostPort":8080,"hostIP":"1.2.3.4"},{"containerPort":81,"name":"web"}],` +
	`"env":[{"name":"A","value":"1"},{"name":"A","value":"2"},{"name":"A","value":"$(A)3"},{"name":"A","value":"$(A)"},{"name":"B","value":"$(A)"}],` +
	`"resources":{"limits":{"memory":"1.5","ephemeral-storage":"0.5"},"requests":{"memory":"1500m","ephemeral-storage":"1e-1"}}}]`

// oddVolumes are volumes of sorts that are gone, or whose files get in each other's way.
const oddVolumes = `"volumes":[{"name":"git","gitRepo":{"repository":"r"}},{"name":"ceph","cephfs":{"monitors":["m"]}},{"name":"rbd","rbd":{"monitors":["m"],"image":"i"}},{"name":"glu","glusterfs":{"endpoints":"e","path":"p"}},` +
	`{"name":"photon","photonPersistentDisk":{"pdID":"x"}},{"name":"io","scaleIO":{"gateway":"g","system":"s","secretRef":{"name":"n"},"volumeName":"v"}},{"name":"flo","flocker":{"datasetName":"d"}},{"name":"os","storageos":{"volumeName":"v"}},{"name":"quo","quobyte":{"registry":"r:1","volume":"v"}},` +
	`{"name":"eph","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1.5"}}}}}},` +
	`{"name":"map","configMap":{"name":"m","items":[{"key":"a","path":"x"},{"key":"b","path":"x/y"},{"key":"c","path":"x"}]}},{"name":"sec","secret":{"secretName":"s","items":[{"key":"a","path":"p/q"},{"key":"b","path":"p"}]}},` +
	`{"name":"down","downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}},{"path":"l/m","fieldRef":{"fieldPath":"metadata.name"}}]}},` +
	`{"name":"proj","projected":{"sources":[{"secret":{"name":"s","items":[{"key":"a","path":"x"}]}},{"configMap":{"name":"m","items":[{"key":"a","path":"x/y"}]}},{"serviceAccountToken":{"path":"x/token"}},{"downwardAPI":{"items":[{"path":"d","fieldRef":{"fieldPath":"metadata.labels"}}]}}]}}]`

const oddNotes = `"annotations":{"scheduler.alpha.kubernetes.io/critical-pod":"","security.alpha.kubernetes.io/sysctls":"","seccomp.security.alpha.kubernetes.io/pod":"runtime/default","container.seccomp.security.alpha.kubernetes.io/c":"runtime/default","container.apparmor.security.beta.kubernetes.io/c":"unconfined"}`

func warned(s *scene) {
	s.send("POST", s.Base+"/serviceaccounts", `{"metadata":{"name":"default"}}`)
	at := func(group, plural, body string) {
		path := s.Base + "/" + plural
		if group != "" {
			path = "/apis/" + group + "/namespaces/" + s.ns + "/" + plural
		}
		s.Add(story.Step{Method: "POST", Path: path + "?dryRun=All", Body: body, Accept: bare})
	}
	for _, spec := range []string{oddSpec + `"containers":[` + plain + `]`, oddContainers, `"containers":[` + plain + `],` + oddVolumes, `"serviceAccountName":"default","automountServiceAccountToken":false,"containers":[` + plain + `],` + oddVolumes} {
		at("", "pods", `{"metadata":{"name":"odd.name"},"spec":{`+spec+`}}`)
		at("", "podtemplates", `{"metadata":{"name":"x"},"template":{"spec":{`+spec+`}}}`)
	}
	at("", "pods", `{"metadata":{"name":"p",`+strings.Replace(oddNotes, `,"container.apparmor.security.beta.kubernetes.io/c":"unconfined"`, "", 1)+`},"spec":{"containers":[`+plain+`]}}`)
	const template = `"template":{"metadata":{"labels":{"a":"b"},` + oddNotes + `},"spec":{"containers":[` + plain + `]`
	const selector = `"selector":{"matchLabels":{"a":"b"}},`
	for _, plural := range []string{"deployments", "replicasets", "daemonsets"} {
		s.Add(story.Step{Method: "POST", Path: "/apis/apps/v1/namespaces/" + s.ns + "/" + plural + "?dryRun=All", Body: `{"metadata":{"name":"odd.name"},"spec":{` + selector + template + `}}}}`})
	}
	at("apps/v1", "statefulsets", `{"metadata":{"name":"x"},"spec":{`+selector+`"serviceName":"s","revisionHistoryLimit":-1,"volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1500m"}}}}],`+template+`}}}}`)
	at("", "replicationcontrollers", `{"metadata":{"name":"odd.name"},"spec":{"selector":{"a":"b"},`+template+`}}}}`)
	const once = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":-2,"containers":[` + plain + `]}}`
	at("batch/v1", "jobs", `{"metadata":{"name":"odd.name"},"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"completionMode":"Indexed","completions":100001,"parallelism":10001,`+once+`}}`)
	at("batch/v1", "jobs", `{"metadata":{"name":"odd"},"spec":{"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"completionMode":"Indexed","completions":100001,"parallelism":10001,`+once+`}}`)
	at("batch/v1", "cronjobs", `{"metadata":{"name":"odd.name"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{`+once+`}}}}`)
	at("", "pods", `{"metadata":{"name":"p"},"spec":{"securityContext":{"appArmorProfile":{"type":"Unconfined"}},"containers":[`+plain+`]}}`)
}

// warnedOthers are about kinds without pods.
func warnedOthers(s *scene) {
	for _, c := range [][2]string{
		{s.Base + "/services", `{"metadata":{"name":"x","annotations":{"service.kubernetes.io/topology-aware-hints":"auto"}},"spec":{"clusterIP":"None","externalIPs":["1.2.3.4"],"sessionAffinity":"ClientIP"}}`},
		{s.Base + "/services", `{"metadata":{"name":"x"},"spec":{"ports":[{"port":1}],"externalIPs":["::ffff:1.2.3.4","2001:DB8::1"],"externalName":"e","trafficDistribution":"PreferClose"}}`},
		{s.Base + "/services", `{"metadata":{"name":"x"},"spec":{"type":"ExternalName","externalName":"e.example.com","externalIPs":["1.2.3.4"]}}`},
		{s.Base + "/services", `{"metadata":{"name":"x"},"spec":{"type":"LoadBalancer","ports":[{"port":1}],"loadBalancerIP":"2001:0db8::1","loadBalancerSourceRanges":["10.1.2.3/8","2001:DB8::/64"]}}`},
		{s.Base + "/endpoints", `{"metadata":{"name":"x"},"subsets":[{"addresses":[{"ip":"2001:DB8::1"}],"notReadyAddresses":[{"ip":"::ffff:1.2.3.4"}],"ports":[{"port":1}]}]}`},
		{"/apis/discovery.k8s.io/v1/namespaces/" + s.ns + "/endpointslices", `{"metadata":{"name":"x"},"addressType":"FQDN","endpoints":[{"addresses":["a.example.com"]}]}`},
		{"/apis/discovery.k8s.io/v1/namespaces/" + s.ns + "/endpointslices", `{"metadata":{"name":"x"},"addressType":"IPv6","endpoints":[{"addresses":["2001:DB8::1"]}]}`},
		{"/apis/networking.k8s.io/v1/namespaces/" + s.ns + "/networkpolicies", `{"metadata":{"name":"x"},"spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":{"cidr":"10.1.2.0/16","except":["10.1.2.3/24"]}}]}],"egress":[{"to":[{"ipBlock":{"cidr":"2001:DB8::/32"}}]}]}}`},
		{"/api/v1/nodes", `{"metadata":{"name":"std-odd"},"spec":{"externalID":"x","podCIDR":"10.1.2.3/24","podCIDRs":["10.1.2.3/24"]}}`},
		{"/apis/node.k8s.io/v1/runtimeclasses", `{"metadata":{"name":"std-odd"},"handler":"h","scheduling":{"nodeSelector":{"beta.kubernetes.io/os":"linux"}}}`},
		{"/api/v1/persistentvolumes", `{"metadata":{"name":"std-odd","annotations":{"volume.beta.kubernetes.io/storage-class":"","volume.beta.kubernetes.io/mount-options":"x"}},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"persistentVolumeReclaimPolicy":"Recycle","nfs":{"server":"s","path":"/p"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"beta.kubernetes.io/arch","operator":"Exists"}]}]}}}}`},
		{"/api/v1/persistentvolumes", `{"metadata":{"name":"std-odd"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageos":{"volumeName":"v"}}}`},
		{"/api/v1/persistentvolumes", `{"metadata":{"name":"std-odd"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"cephfs":{"monitors":["m"]}}}`},
		{s.Base + "/persistentvolumeclaims", `{"metadata":{"name":"x"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"","resources":{"requests":{"storage":"1.5"},"limits":{"storage":"2500m"}}}}`},
		{storageClasses, `{"metadata":{"name":"std-odd"},"provisioner":"p","allowedTopologies":[{"matchLabelExpressions":[{"key":"failure-domain.beta.kubernetes.io/zone","values":["a"]}]}]}`},
		{"/apis/storage.k8s.io/v1/namespaces/" + s.ns + "/csistoragecapacities", `{"metadata":{"name":"x"},"storageClassName":"c","nodeTopology":{"matchLabels":{"beta.kubernetes.io/os":"a"},"matchExpressions":[{"key":"beta.kubernetes.io/arch","operator":"Exists"}]}}`},
		{"/apis/storage.k8s.io/v1/csidrivers", `{"metadata":{"name":"std-odd"},"spec":{"tokenRequests":[{"audience":"a"}]}}`},
		{s.Base + "/resourcequotas", `{"metadata":{"name":"x"},"spec":{"hard":{"cpu":"2","limits.cpu":"1","requests.memory":"2Gi","limits.memory":"1Gi","requests.ephemeral-storage":"1","limits.ephemeral-storage":"2"}}}`},
	} {
		s.Add(story.Step{Method: "POST", Path: c[0] + "?dryRun=All", Body: c[1], Accept: bare})
	}
}
