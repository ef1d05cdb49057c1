package admissions

import "github.com/wasmgate/wasmgate/test/story"

func config(e string) string {
	return `{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"` + e + `"}}`
}

func patch(e string) string {
	return `{"patchType":"JSONPatch","jsonPatch":{"expression":"` + e + `"}}`
}

// about puts a mutating policy in force for objects with the label p=NAME.
func (s *scene) about(name, failure, rest, mutations string) {
	s.policy("mutating", name, "", `"failurePolicy":"`+failure+`","reinvocationPolicy":"Never",`+rest+`"mutations":[`+mutations+`]`)
	s.bind("mutating", name, name, `,"matchResources":{"objectSelector":{"matchLabels":{"p":"`+name+`"}}}`)
}

func (s *scene) each(data string, names ...string) {
	for _, p := range names {
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `"}},"data":` + data)
	}
}

func mutations(s *scene) {
	s.about("labels", "Fail", "", config(`Object{metadata: Object.metadata{labels: {'made': 'by ' + request.operation}}}`))
	s.about("data", "Fail", "", config(`Object{data: {'b': object.data.a + '!'}}`)+","+config(`Object{data: {'c': object.data.b + '?'}}`))
	s.about("adds", "Fail", "", patch(`[JSONPatch{op: 'add', path: '/data/b', value: 'x'}, JSONPatch{op: 'replace', path: '/data/a', value: 'y'}]`))
	s.about("object", "Fail", "", patch(`[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'k': 'v', 'l': string(1 + 1)}}]`))
	s.about("escapes", "Fail", "", patch(`[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/x'), value: 'y'}]`))
	s.about("removes", "Fail", "", patch(`[JSONPatch{op: 'test', path: '/data/a', value: 'b'}, JSONPatch{op: 'move', from: '/data/a', path: '/data/z'}]`))
	s.about("tests", "Fail", "", patch(`[JSONPatch{op: 'test', path: '/data/a', value: 'other'}, JSONPatch{op: 'remove', path: '/data/a'}]`))
	s.about("nothing", "Fail", "", config(`Object{}`)+","+patch(`[JSONPatch{op: 'test', path: '/data/a', value: 'b'}]`))
	s.about("unmet", "Fail", `"matchConditions":[{"name":"a","expression":"false"}],`, config(`Object{data: {'b': 'x'}}`))
	s.about("variables", "Fail", `"variables":[{"name":"v","expression":"object.data.a + 'c'"}],`, config(`Object{data: {'b': variables.v}}`))
	s.policy("mutating", "params", "", `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"reinvocationPolicy":"Never","mutations":[`+config(`Object{data: {'b': params.data.v}}`)+`]`)
	s.bind("mutating", "params-absent", "params", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"absent"}}},"paramRef":{"name":"nothing","parameterNotFoundAction":"Deny"}`)
	s.ready("mutating")
	s.each(`{"a":"b"}`, "labels", "data", "adds", "object", "escapes", "removes", "tests", "nothing", "unmet", "variables", "absent", "other")
	one := s.configMaps() + "/kept"
	s.Add(story.Step{Method: "POST", Path: s.configMaps(), Body: `{"metadata":{"name":"kept","labels":{"p":"labels"}},"data":{"a":"b"}}`})
	s.Add(story.Step{Method: "PATCH", Path: one, Type: story.MergePatch, Body: `{"data":{"c":"d"}}`})
	s.Add(story.Step{Method: "PUT", Path: one, Body: `{"metadata":{"name":"kept","labels":{"p":"data"}},"data":{"a":"b"}}`})
}

func badMutations(s *scene) {
	for _, failure := range []string{"Fail", "Ignore"} {
		end := map[string]string{"Fail": "", "Ignore": "-ignored"}[failure]
		s.about("unknown"+end, failure, "", config(`Object{nothing: 1}`))
		s.about("typed"+end, failure, "", config(`Object{data: Object.wrong{a: 'b'}}`))
		s.about("evaluates"+end, failure, "", config(`Object{data: {'b': object.data.nothing}}`)+","+config(`Object{data: {'c': 'after'}}`))
		s.about("path"+end, failure, "", patch(`[JSONPatch{op: 'remove', path: '/data/nothing'}]`))
		s.about("op"+end, failure, "", patch(`[JSONPatch{op: 'odd', path: '/data/a'}]`))
		s.about("condition"+end, failure, `"matchConditions":[{"name":"a","expression":"object.data.nothing == 'x'"}],`, config(`Object{}`))
		s.about("value"+end, failure, "", config(`Object{data: {'b': 1}}`))
		s.about("invalid"+end, failure, "", config(`Object{data: {'a b': 'c'}}`))
	}
	s.ready("mutating")
	for _, end := range []string{"", "-ignored"} {
		s.each(`{"a":"b"}`, "unknown"+end, "typed"+end, "evaluates"+end, "path"+end, "op"+end, "condition"+end, "value"+end, "invalid"+end)
	}
}

func again(s *scene) {
	grows := func(name, policy string) {
		s.policy("mutating", name, "", `"reinvocationPolicy":"`+policy+`","mutations":[`+config(`Object{data: {'k': object.data.k + 'x'}}`)+`]`)
		s.bind("mutating", name, name, `,"matchResources":{"objectSelector":{"matchLabels":{"p":"`+name+`"}}}`)
	}
	grows("never", "Never")
	grows("needed", "IfNeeded")
	s.policy("mutating", "idle", "", `"reinvocationPolicy":"IfNeeded","mutations":[`+config(`Object{data: {'m': 'm' in object.data ? 'seen' : object.data.k}}`)+`]`)
	s.bind("mutating", "idle", "idle", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"idle"}}}`)
	s.webhook("mutating", "m", `{"reinvocationPolicy":"IfNeeded"}`)
	s.ready("mutating", "mutatingwebhook")
	const patch = `"answer":"{\"patchType\":\"JSONPatch\",\"patch\":\"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEvbSIsInZhbHVlIjoieCJ9XQ==\"}"`
	for _, p := range []string{"never", "needed", "idle", "none"} {
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `"}},"data":{"k":"v"}`)
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `","hook":"m"}},"data":{"k":"v",` + patch + `}`)
	}
}

// order is shown by who refuses what all of them would.
func order(s *scene) {
	const here = `,"matchResources":{"objectSelector":{"matchLabels":{"p":"order"}}}`
	s.policy("mutating", "mp", "", `"reinvocationPolicy":"Never","mutations":[`+config(`Object{data: {'seen': string('mw' in object.data)}}`)+`]`)
	s.bind("mutating", "mp", "mp", here)
	s.webhook("mutating", "m", `{"matchConditions":[{"name":"a","expression":"'seen' in object.data"}]}`)
	s.policy("validating", "vp", "", `"validations":[{"expression":"!('vp' in object.data)","message":"the validating policy"},{"expression":"object.data.seen == 'false'"}]`)
	s.bind("validating", "vp", "vp", here)
	s.webhook("validating", "v", `{"matchConditions":[{"name":"a","expression":"object.data.seen == 'false'"}]}`)
	s.ready("mutating", "validating", "mutatingwebhook", "validatingwebhook")
	const no = `"answer":"{\"allowed\":false,\"status\":{\"message\":\"a webhook\",\"code\":403}}"`
	s.create(`"metadata":{"name":"one","labels":{"p":"order"}},"data":{"k":"v"}`)
	s.create(`"metadata":{"name":"one","labels":{"p":"order","hook":"m"}},"data":{"vp":"x",` + no + `}`)
	s.create(`"metadata":{"name":"one","labels":{"p":"order","hook":"v"}},"data":{"vp":"x",` + no + `}`)
	s.create(`"metadata":{"name":"one","labels":{"p":"order","hook":"v"}},"data":{` + no + `}`)
	s.create(`"metadata":{"name":"one","labels":{"p":"order","hook":"v"}},"data":{"a b":"invalid","vp":"x",` + no + `}`)
}
