package layouts

import "github.com/wasmgate/wasmgate/test/story"

// The two collections of a namespace's autoscalers.
const (
	v1 = "/apis/autoscaling/v1/namespaces/NS/horizontalpodautoscalers"
	v2 = "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers"
)

const target = `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}`

// full is the spec of an autoscaler with one metric of each kind.
const full = `{"minReplicas":2,"maxReplicas":7,` + target + `,"behavior":{"scaleUp":{"stabilizationWindowSeconds":5}},"metrics":[` +
	`{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}},` +
	`{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"100Mi"}}},` +
	`{"type":"Pods","pods":{"metric":{"name":"p","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"AverageValue","averageValue":"10"}}},` +
	`{"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"s"},"metric":{"name":"o"},"target":{"type":"AverageValue","averageValue":"3"}}},` +
	`{"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"s"},"metric":{"name":"o"},"target":{"type":"Value","value":"3"}}},` +
	`{"type":"External","external":{"metric":{"name":"e"},"target":{"type":"Value","value":"4"}}},` +
	`{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":20}}}]}`

func autoscalers(s *scene) {
	s.get("/apis/autoscaling", "/apis/autoscaling/v1", "/apis/autoscaling/v2")
	s.post(v1, `{"metadata":{"name":"bare"},"spec":{"maxReplicas":3,`+target+`},"status":{"currentReplicas":5}}`)
	s.post(v1, `{"metadata":{"name":"odd","annotations":{"mine":"x","autoscaling.alpha.kubernetes.io/metrics":"{bad","autoscaling.alpha.kubernetes.io/behavior":"{}","autoscaling.alpha.kubernetes.io/conditions":"5"}},"spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":60,`+target+`}}`)
	s.post(v2, `{"metadata":{"name":"full","annotations":{"mine":"x","autoscaling.alpha.kubernetes.io/metrics":"[]"}},"spec":`+full+`}`)
	s.get(v1+"/bare", v2+"/bare", v1+"/odd", v2+"/odd", v1+"/full", v2+"/full")
	s.table(v1)
	s.table(v1 + "/full")
	s.watch(v1)
	s.merge(v1+"/full", `{"spec":{"targetCPUUtilizationPercentage":55}}`)
	s.get(v2 + "/full")
	s.merge(v1+"/full", `{"spec":{"targetCPUUtilizationPercentage":null}}`)
	s.merge(v1+"/full", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":null,"autoscaling.alpha.kubernetes.io/behavior":null}}}`)
	s.get(v2 + "/full")
	s.merge(v2+"/full", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/behavior":"x"}},"spec":{"behavior":{"scaleDown":{"selectPolicy":"Disabled","tolerance":"50m"}}}}`)
	s.get(v1 + "/full")
	s.add(story.Step{Method: "PATCH", Path: v1 + "/full", Type: "application/strategic-merge-patch+json", Body: `{"spec":{"maxReplicas":9},"metadata":{"labels":{"a":"b"}}}`})
	s.add(story.Step{Method: "PATCH", Path: v1 + "/full", Type: story.JSONPatch, Body: `[{"op":"replace","path":"/spec/maxReplicas","value":10}]`})
	s.add(story.Step{Method: "PATCH", Path: v1 + "/applied?fieldManager=m", Type: "application/apply-patch+yaml", Body: `{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"applied"},"spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":60,` + target + `}}`})
	s.add(story.Step{Method: "PATCH", Path: v2 + "/applied?fieldManager=other", Type: "application/apply-patch+yaml", Body: `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"applied"},"spec":{"maxReplicas":4}}`})
	s.add(story.Step{Method: "PATCH", Path: v2 + "/applied?fieldManager=other&force=true", Type: "application/apply-patch+yaml", Body: `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"applied"},"spec":{"maxReplicas":4}}`})
	s.add(story.Step{Method: "DELETE", Path: v1 + "/bare"})
	s.brief("DELETE", v1+"?labelSelector=a%3Db", "")
	s.list(v1, v2)
	s.brief("DELETE", v1, "")
}

func statuses(s *scene) {
	const status = `{"status":{"currentReplicas":2,"desiredReplicas":3,"observedGeneration":1,"lastScaleTime":"2026-01-01T00:00:00Z","currentMetrics":[` +
		`{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":30,"averageValue":"300m"}}},` +
		`{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","current":{"averageUtilization":0,"averageValue":"0"}}},` +
		`{"type":"Pods","pods":{"metric":{"name":"p"},"current":{"averageValue":"5"}}},` +
		`{"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},"metric":{"name":"o"},"current":{"value":"0"}}},` +
		`{"type":"External","external":{"metric":{"name":"e"},"current":{"value":"7"}}}],` +
		`"conditions":[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":"m"}]}}`
	s.brief("POST", v2, `{"metadata":{"name":"a"},"spec":`+full+`}`)
	s.merge(v2+"/a/status", status)
	s.get(v1+"/a", v1+"/a/status")
	s.table(v1)
	s.put(v1+"/a", `{"metadata":{"name":"a"},"spec":{"maxReplicas":4,`+target+`}}`)
	s.get(v2 + "/a")
	s.merge(v1+"/a/status", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/conditions":null}},"spec":{"maxReplicas":9},"status":{"currentReplicas":1}}`)
	s.get(v2 + "/a")
	s.merge(v1+"/a/status", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/current-metrics":null}},"status":{"currentCPUUtilizationPercentage":12}}`)
	s.get(v2 + "/a")
	s.brief("DELETE", v1, "")
}

func refusedAutoscalers(s *scene) {
	for _, spec := range []string{
		`{}`, `{"maxReplicas":1}`, `{"maxReplicas":0,"minReplicas":4,` + target + `}`, `{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"v1","kind":"Deployment","name":"web"}}`,
		`{"maxReplicas":3,"targetCPUUtilizationPercentage":0,` + target + `}`, `{"maxReplicas":3,"targetCPUUtilizationPercentage":-1,` + target + `}`,
		`{"maxReplicas":3,"scaleTargetRef":{"kind":"a/b","name":"x%y"}}`, `{"maxReplicas":"3",` + target + `}`,
	} {
		s.post(v1, `{"metadata":{"name":"bad"},"spec":`+spec+`}`)
	}
	s.post(v1, `{"metadata":{"name":"Not valid"},"spec":{"maxReplicas":3,`+target+`}}`)
	s.post(v1+"?fieldValidation=Strict", `{"metadata":{"name":"bad"},"spec":{"maxReplicas":3,"metrics":[],`+target+`}}`)
	s.post(v1+"?fieldValidation=Warn", `{"metadata":{"name":"warned"},"spec":{"maxReplicas":3,"metrics":[],`+target+`}}`)
	s.post(v1, `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"bad"},"spec":{"maxReplicas":3,`+target+`}}`)
	s.post(v1, `{"metadata":{"name":"bad","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Pods\"}]","autoscaling.alpha.kubernetes.io/behavior":"{\"ScaleUp\":{\"SelectPolicy\":\"Odd\"}}"}},"spec":{"maxReplicas":3,`+target+`}}`)
	s.get(v1+"/none", v1+"?fieldSelector=spec.maxReplicas%3D3")
	s.list(v1 + "?fieldSelector=metadata.name%3Dwarned")
	s.brief("DELETE", v1, "")
}
