package admissions

import "github.com/wasmgate/wasmgate/test/story"

func validations(s *scene) {
	s.validate("v", `"validations":[
		{"expression":"!has(object.data) || !('a' in object.data) || object.data.a != 'plain'"},
		{"expression":"!has(object.data) || !('a' in object.data) || object.data.a != 'message'","message":" a message ","reason":"Forbidden"},
		{"expression":"!has(object.data) || !('a' in object.data) || object.data.a != 'expression'","message":"not this","messageExpression":"'made of ' + object.data.a","reason":"RequestEntityTooLarge"},
		{"expression":"!has(object.data) || !('a' in object.data) || object.data.a != 'lines'","message":"instead of lines","messageExpression":"'a\\nb'"},
		{"expression":"!has(object.data) || !('a' in object.data) || object.data.a != 'wrong'","message":"instead of an error","messageExpression":"string(object.data.nothing)"},
		{"expression":"!has(object.data) || !('a' in object.data) || object.data.a != 'blank'","messageExpression":"'  '","reason":"Invalid"},
		{"expression":"object.metadata.?name.orValue('') != 'two' && request.name != 'two'","message":"the first"},
		{"expression":"object.metadata.?name.orValue('') != 'two'","message":"the second"}]`)
	s.ready("validating")
	for _, a := range []string{"fine", "plain", "message", "expression", "lines", "wrong", "blank"} {
		s.create(named("one", map[string]string{"a": a}))
	}
	s.create(`"metadata":{"name":"two"}`)
	s.create(`"metadata":{"name":"both"},"data":{"a b":"plain","a":"plain"}`)
	one := s.configMaps() + "/one"
	s.Add(story.Step{Method: "POST", Path: s.configMaps(), Body: `{` + named("one", map[string]string{"a": "fine"}) + `}`})
	s.Add(story.Step{Method: "PATCH", Path: one, Type: story.MergePatch, Body: `{"data":{"a":"message"}}`})
	s.Add(story.Step{Method: "PUT", Path: one, Body: `{` + named("one", map[string]string{"a": "plain"}) + `}`})
	s.Add(story.Step{Method: "PATCH", Path: one, Type: story.JSONPatch, Body: `[{"op":"replace","path":"/data/a","value":"expression"}]`})
	s.Add(story.Step{Method: "DELETE", Path: one})
}

func failures(s *scene) {
	const wrong = `"validations":[{"expression":"object.data.nothing == 'x'"},{"expression":"false","message":"later"}]`
	s.policy("validating", "fails", "", wrong)
	s.bind("validating", "fails", "fails", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"fails"}}}`)
	s.policy("validating", "ignores", "", `"failurePolicy":"Ignore","validations":[{"expression":"object.data.nothing == 'x'"}]`)
	s.bind("validating", "ignores", "ignores", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"ignores"}}}`)
	s.policy("validating", "ignores-some", "", `"failurePolicy":"Ignore",`+wrong)
	s.bind("validating", "ignores-some", "ignores-some", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"some"}}}`)
	s.policy("validating", "annotates", "", `"auditAnnotations":[{"key":"a","valueExpression":"string(object.data.nothing)"}]`)
	s.bind("validating", "annotates", "annotates", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"annotates"}}},"validationActions":["Warn"]`)
	s.policy("validating", "annotates-well", "", `"auditAnnotations":[{"key":"a","valueExpression":"'x'"}]`)
	s.bind("validating", "annotates-well", "annotates-well", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"well"}}}`)
	s.policy("validating", "costs", "", `"variables":[{"name":"l","expression":"[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]"}],
		"validations":[{"expression":"variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, variables.l.all(e, a+b+c+d+e > 0)))))"}]`)
	s.bind("validating", "costs", "costs", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"costs"}}}`)
	s.ready("validating")
	for _, p := range []string{"fails", "ignores", "some", "annotates", "well", "costs"} {
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `"}},"data":{"a":"b"}`)
	}
}

func actions(s *scene) {
	const never = `"validations":[{"expression":"object.metadata.labels.p != 'no'","message":"no is no label"},{"expression":"object.metadata.labels.p != 'no'","message":"nor is it another"}]`
	s.policy("validating", "p", "", never)
	for name, rest := range inOrder(map[string]string{"warn": `["Warn"]`, "audit": `["Audit"]`, "both": `["Warn","Audit"]`, "deny": `["Deny","Audit"]`}) {
		s.bind("validating", name, "p", `,"matchResources":{"objectSelector":{"matchLabels":{"`+name+`":"x"}}},"validationActions":`+rest)
	}
	s.ready("validating")
	for _, l := range []string{`"warn":"x"`, `"audit":"x"`, `"both":"x"`, `"deny":"x"`, `"warn":"x","deny":"x"`} {
		s.create(`"metadata":{"name":"one","labels":{"p":"no",` + l + `}}`)
		s.create(`"metadata":{"name":"one","labels":{"p":"yes",` + l + `}}`)
	}
}

func parameters(s *scene) {
	const kind = `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},`
	labels := func(p, rest string) string {
		return `,"matchResources":{"objectSelector":{"matchLabels":{"p":"` + p + `"}}},"paramRef":` + rest
	}
	for name, more := range inOrder(map[string]string{"limits": `"labels":{"limit":"x"}},"data":{"max":"3"}`, "more": `"labels":{"limit":"x","p":"y"}},"data":{"max":"2"}`}) {
		s.brief("POST", s.configMaps(), `{"metadata":{"name":"`+name+`",`+more+`}`)
	}
	s.policy("validating", "p", "", kind+`"validations":[{"expression":"int(object.data.n) <= int(params.data.max)","messageExpression":"'above ' + params.data.max + ' of ' + params.metadata.name + params.kind + params.apiVersion"}]`)
	s.bind("validating", "name", "p", labels("name", `{"name":"limits","parameterNotFoundAction":"Deny"}`))
	s.bind("validating", "there", "p", labels("there", `{"name":"limits","namespace":"`+s.ns+`","parameterNotFoundAction":"Deny"}`))
	s.bind("validating", "elsewhere", "p", labels("elsewhere", `{"name":"limits","namespace":"default","parameterNotFoundAction":"Deny"}`))
	s.bind("validating", "lenient", "p", labels("lenient", `{"name":"nothing","parameterNotFoundAction":"Allow"}`))
	s.bind("validating", "all", "p", labels("all", `{"selector":{"matchLabels":{"limit":"x"}},"parameterNotFoundAction":"Deny"}`))
	s.bind("validating", "none", "p", labels("none", `{"selector":{"matchLabels":{"limit":"y"}},"parameterNotFoundAction":"Deny"}`))
	s.bind("validating", "noref", "p", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"noref"}}}`)
	s.policy("validating", "null", "", kind+`"validations":[{"expression":"params == null","message":"there are some"}]`)
	s.bind("validating", "null", "null", `,"matchResources":{"objectSelector":{"matchLabels":{"p":"null"}}}`)
	s.policy("validating", "cluster", "", `"paramKind":{"apiVersion":"v1","kind":"Namespace"},"validations":[{"expression":"params.metadata.name == object.data.n","messageExpression":"'it is not ' + params.metadata.name"}]`)
	s.bind("validating", "cluster", "cluster", labels("cluster", `{"name":"default","parameterNotFoundAction":"Deny"}`))
	s.bind("validating", "placed", "cluster", labels("placed", `{"name":"default","namespace":"default","parameterNotFoundAction":"Deny"}`))
	s.ready("validating")
	for _, p := range []string{"name", "there", "elsewhere", "lenient", "all", "none", "noref", "null", "cluster", "placed"} {
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `"}},"data":{"n":"5"}`)
	}
	s.create(`"metadata":{"name":"one","labels":{"p":"all"}},"data":{"n":"3"}`)
	s.create(`"metadata":{"name":"one","labels":{"p":"name"}},"data":{"n":"3"}`)
}

// unknownParameters is a policy that refuses all that it is about, whatever its
// bindings say.
func unknownParameters(s *scene) {
	const unknown = `"paramKind":{"apiVersion":"nobody.example.com/v1","kind":"Nothing"},"validations":[{"expression":"true"}]`
	s.policy("validating", "fails", configMaps+`,"objectSelector":{"matchLabels":{"p":"fails"}}`, unknown)
	s.bind("validating", "fails", "fails", `,"matchResources":{"objectSelector":{"matchLabels":{"q":"other"}}},"paramRef":{"name":"x","parameterNotFoundAction":"Allow"}`)
	s.policy("validating", "ignores", configMaps+`,"objectSelector":{"matchLabels":{"p":"ignores"}}`, `"failurePolicy":"Ignore",`+unknown)
	s.bind("validating", "ignores", "ignores", `,"paramRef":{"name":"x","parameterNotFoundAction":"Allow"}`)
	s.ready("validating")
	for _, p := range []string{"fails", "ignores", "other"} {
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `"}}`)
	}
}

func constraints(s *scene) {
	no := func(name, match string) {
		s.policy("validating", name, match, `"validations":[{"expression":"false","message":"`+name+`"}]`)
		s.bind("validating", name, name, "")
	}
	rule := func(ops, rest string) string {
		return `{"operations":[` + ops + `],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]` + rest + `}`
	}
	s.brief("POST", s.configMaps(), `{"metadata":{"name":"there","labels":{"was":"x"}}}`)
	s.brief("POST", s.configMaps(), `{"metadata":{"name":"plain"}}`)
	no("names", `"resourceRules":[`+rule(`"CREATE"`, `,"resourceNames":["named","other"]`)+`]`)
	no("updates", `"resourceRules":[`+rule(`"UPDATE"`, "")+`],"objectSelector":{"matchLabels":{"p":"updates"}}`)
	no("deletes", `"resourceRules":[`+rule(`"DELETE"`, "")+`]`)
	no("excluded", `"resourceRules":[`+rule(`"*"`, "")+`],"excludeResourceRules":[`+rule(`"CREATE"`, `,"resourceNames":["spared"]`)+`],"objectSelector":{"matchLabels":{"p":"excluded"}}`)
	no("old", `"resourceRules":[`+rule(`"UPDATE"`, "")+`],"objectSelector":{"matchLabels":{"was":"x"}}`)
	no("cluster", `"resourceRules":[`+rule(`"*"`, `,"scope":"Cluster"`)+`]`)
	no("everything", `"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}],"objectSelector":{"matchLabels":{"p":"everything"}}`)
	s.ready("validating")
	for _, o := range []string{`"named"`, `"unnamed"`, `"spared","labels":{"p":"excluded"}`, `"unspared","labels":{"p":"excluded"}`, `"x","labels":{"p":"everything"}`, `"x","labels":{"p":"updates"}`} {
		s.create(`"metadata":{"name":` + o + `}`)
	}
	there := s.configMaps() + "/there?dryRun=All"
	s.Add(story.Step{Method: "PATCH", Path: s.configMaps() + "/plain?dryRun=All", Type: story.MergePatch, Body: `{"metadata":{"labels":{"p":"updates"}}}`})
	s.Add(story.Step{Method: "PATCH", Path: there, Type: story.MergePatch, Body: `{"metadata":{"labels":{"was":null}}}`})
	s.Add(story.Step{Method: "DELETE", Path: there})
	s.Add(story.Step{Method: "POST", Path: "/api/v1/namespaces/" + s.ns + "/secrets?dryRun=All", Body: `{"metadata":{"name":"x","labels":{"p":"everything"}}}`})
	s.Add(story.Step{Method: "PATCH", Path: "/api/v1/namespaces/" + s.ns + "?dryRun=All", Type: story.MergePatch, Body: `{"metadata":{"labels":{"p":"everything"}}}`})
}

func conditions(s *scene) {
	for _, c := range []struct{ name, failure, conditions string }{
		{"met", "Fail", `[{"name":"a","expression":"true"},{"name":"b","expression":"request.operation == 'CREATE'"}]`},
		{"unmet", "Fail", `[{"name":"a","expression":"object.data.nothing == 'x'"},{"name":"b","expression":"false"}]`},
		{"fails", "Fail", `[{"name":"a","expression":"object.data.nothing == 'x'"},{"name":"b","expression":"true"}]`},
		{"ignores", "Ignore", `[{"name":"a","expression":"object.data.nothing == 'x'"}]`},
		{"users", "Fail", `[{"name":"a","expression":"'system:masters' in request.userInfo.groups"}]`},
	} {
		s.policy("validating", c.name, "", `"failurePolicy":"`+c.failure+`","matchConditions":`+c.conditions+`,"validations":[{"expression":"false","message":"`+c.name+`"}]`)
		s.bind("validating", c.name, c.name, `,"matchResources":{"objectSelector":{"matchLabels":{"p":"`+c.name+`"}}}`)
	}
	s.ready("validating")
	for _, p := range []string{"met", "unmet", "fails", "ignores", "users", "other"} {
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `"}},"data":{"a":"b"}`)
	}
}

// variables show a value of each expression in a message.
func variables(s *scene) {
	for name, e := range inOrder(map[string]string{
		"request":   `request.operation + ' ' + request.name + ' ' + request.resource.resource + ' ' + request.kind.kind + ' ' + request.requestKind.version + ' ' + string(request.dryRun) + ' ' + request.namespace`,
		"options":   `string(request.options.dryRun[0]) + ' ' + string(request.options.kind)`,
		"subres":    `'[' + request.subResource + ']'`,
		"namespace": `namespaceObject.metadata.labels['scene'] + ' ' + namespaceObject.metadata.name + ' ' + namespaceObject.status.phase`,
		"old":       `string(oldObject == null)`,
		"size":      `string(size(object.data)) + string(has(object.metadata.uid)) + string(has(object.metadata.managedFields))`,
		"quantity":  `string(quantity('1Gi').isGreaterThan(quantity('1Mi')))`,
		"chain":     `string(variables.c)`,
		"optional":  `object.?data['x'].orValue('absent')`,
	}) {
		s.policy("validating", name, "", `"variables":[{"name":"a","expression":"1"},{"name":"b","expression":"variables.a + 1"},{"name":"c","expression":"variables.b * 10"}],"validations":[{"expression":"false","messageExpression":"`+e+`"}]`)
		s.bind("validating", name, name, `,"matchResources":{"objectSelector":{"matchLabels":{"p":"`+name+`"}}}`)
	}
	for name, e := range inOrder(map[string]string{
		"resource":  `!authorizer.group('').resource('pods').subresource('log').namespace('default').name('x').check('get').allowed()`,
		"path":      `!authorizer.path('/healthz').check('get').allowed()`,
		"account":   `authorizer.serviceAccount('default','nobody').group('').resource('secrets').check('delete').allowed()`,
		"selectors": `!authorizer.group('').resource('pods').fieldSelector('spec.nodeName=x').labelSelector('a=b').check('list').allowed()`,
		"this":      `!authorizer.requestResource.check('create').allowed()`,
	}) {
		s.policy("validating", name, "", `"validations":[{"expression":"`+e+`","message":"`+name+`"}]`)
		s.bind("validating", name, name, `,"matchResources":{"objectSelector":{"matchLabels":{"p":"`+name+`"}}}`)
	}
	s.ready("validating")
	for _, p := range []string{"request", "options", "subres", "namespace", "old", "size", "quantity", "chain", "optional", "resource", "path", "account", "selectors", "this"} {
		s.create(`"metadata":{"name":"one","labels":{"p":"` + p + `"}},"data":{"a":"b"}`)
	}
}
