package rules

// libraries are the functions that rules may call.
var libraries = map[string]func(*tale){
	"CEL-03 macros and standard functions": evaluate(`"n":{"type":"array","maxItems":9,"items":{"type":"integer"}},"s":{"type":"string","maxLength":99},"t":{"type":"string","format":"date-time"}`,
		[]string{`{"n":[1,2,3],"s":"héllo","t":"2024-05-06T23:08:09+02:00"}`, `{"n":[],"s":"","t":"2024-05-06T07:08:09Z"}`, `{}`},
		`has(self.n)`, `self.n.all(x, x > 1)`, `self.n.exists(x, x > 2)`, `self.n.exists_one(x, x == 2)`, `=self.n.map(x, x * 2).size()`, `=self.n.filter(x, x != 2).size()`,
		`=self.n.map(x, x > 1, x * 10).sum()`, `=size(self.s)`, `=size(self.s) + int('3') - 10 / 3 % 2`, `self.s.contains('l')`, `self.s.endsWith('o')`, `self.s.startsWith('h')`,
		`=double(7) / 2.0`, `#=string(1.5) + string(true) + string(b'ab')`, `=uint(3) + 4u`, `1 / 0 == 1`, `9223372036854775807 + 1 > 0`, `=int(3.9)`, `=bool('true')`,
		`dyn(1) == 1.0`, `type(1) == int`, `[1, 2][5] == 1`, `{'a': 1}['b'] == 1`, `'a' in {'a': 1}`, `2 in [1, 2]`, `false || 1 / 0 == 1 || true`, `true ? false : true`,
		`=self.t.getFullYear()`, `=self.t.getHours()`, `=self.t.getHours('America/New_York')`, `=self.t.getDayOfWeek()`, `=timestamp('2020-01-01T00:00:00Z') + duration('1h30m')`,
		`=duration('90m')`, `=duration('1h').getMinutes()`, `#timestamp('nonsense') < self.t`, `#=int('x')`, `"\u00e9" < "z"`, `b'a' < b'b'`, `=int(timestamp('1970-01-01T00:01:00Z'))`),
	"CEL-04 strings": evaluate(`"s":{"type":"string","maxLength":60}`, []string{`{"s":"Hello, World"}`, `{"s":"ünïcode"}`},
		`=self.s.charAt(1)`, `=self.s.charAt(99)`, `=self.s.indexOf('o')`, `=self.s.indexOf('o', 5)`, `=self.s.lastIndexOf('o')`, `=self.s.lastIndexOf('o', 5)`, `=self.s.lowerAscii()`,
		`=self.s.upperAscii()`, `=self.s.replace('l', 'L')`, `=self.s.replace('l', 'L', 1)`, `=self.s.split(',').size()`, `#=self.s.split('').join('-')`, `#=self.s.split('o', 2).join('|')`,
		`=self.s.substring(2)`, `=self.s.substring(2, 4)`, `=self.s.substring(5, 3)`, `='  a b '.trim()`, `#=['a', 'b'].join()`, `='%s is %d'.format([self.s, 7])`, `=strings.quote(self.s)`),
	"CEL-04 version 3 of strings": func(t *tale) {
		t.ruled(`"s":{"type":"string","maxLength":60}`, `self.s.reverse() == 'a'`, `self.s.charAt('a') == 'a'`, `'%d'.format([self.s]) == ''`, `'%x %.2f %e %b %o'.format([255, 1.5, 2.5, 5, 8]) == ''`, `'%q'.format([1]) == ''`)
	},
	"CEL-05 lists": evaluate(`"names":{"type":"array","maxItems":9,"items":{"type":"string","maxLength":20}},"items":{"type":"array","maxItems":9,"items":{"type":"object","properties":{"weight":{"type":"number"}}}},"low":{"type":"array","maxItems":9,"items":{"type":"integer"}},"high":{"type":"array","maxItems":9,"items":{"type":"integer"}}`,
		[]string{`{"names":["b","a","b"],"items":[{"weight":0.25},{"weight":0.75}],"low":[1,2],"high":[3,4]}`, `{"names":["x","should-be-first"],"items":[{"weight":1}],"low":[5],"high":[5]}`, `{"names":[],"items":[],"low":[],"high":[]}`},
		`self.names.isSorted()`, `self.items.map(x, x.weight).sum() == 1.0`, `self.low.max() < self.high.min()`, `self.names.indexOf('should-be-first') == 1`, `=self.names.lastIndexOf('b')`,
		`=self.names.indexOf('z')`, `=self.low.sum()`, `=[duration('1h'), duration('2m')].sum()`, `=[2.5, 1.5].min()`, `#=['b', 'a'].max()`, `[false, true].isSorted()`, `=[1u, 2u].sum()`, `=self.names.max()`,
		`[timestamp('2020-01-01T00:00:00Z')].isSorted()`, `#=[b'a', b'b'].min()`, `=self.high.max()`),
	"CEL-06 regex": evaluate(`"s":{"type":"string","maxLength":50}`, []string{`{"s":"abc 123"}`, `{"s":"1, 2, 3, 4"}`, `{"s":"("}`},
		`self.s.matches('^[a-z]+ [0-9]+$')`, `="abc 123".find('[0-9]+')`, `"1, 2, 3, 4".findAll('[0-9]+').map(x, int(x)).sum() < 100`, `=self.s.find('[0-9]+')`, `=self.s.find('nothing')`,
		`#=self.s.findAll('[0-9]').join('+')`, `#=self.s.findAll('[0-9]', 2).join('+')`, `=self.s.findAll('[0-9]', 0).size()`, `'a'.matches(self.s)`, `='a'.find(self.s)`),
	"CEL-07 urls": evaluate(`"s":{"type":"string","maxLength":60}`, []string{`{"s":"https://user@example.com:80/path with spaces/?k=a&k=b&l=#f"}`, `{"s":"/relative"}`, `{"s":"://"}`, `{"s":"http://[::1]:8080"}`},
		`isURL(self.s)`, `=url(self.s).getScheme()`, `=url(self.s).getHost()`, `=url(self.s).getHostname()`, `=url(self.s).getPort()`, `=url(self.s).getEscapedPath()`, `=url(self.s).getQuery().size()`,
		`=url(self.s).getQuery()['k'].join(',')`, `=url('https://example.com:80/').getHost()`, `=url('https://example.com/path with spaces/').getEscapedPath()`, `url(self.s) == url(self.s)`),
	"CEL-08 CEL-09 addresses": evaluate(`"s":{"type":"string","maxLength":60}`,
		[]string{`{"s":"127.0.0.1"}`, `{"s":"2001:DB8::ABCD"}`, `{"s":"::ffff:1.2.3.4"}`, `{"s":"fe80::1%eth0"}`, `{"s":"010.0.0.1"}`, `{"s":"fe80::1"}`, `{"s":"0.0.0.0"}`, `{"s":"224.0.0.1"}`, `{"s":"255.255.255.255"}`, `{"s":"x"}`},
		`isIP(self.s)`, `=ip(self.s)`, `ip.isCanonical(self.s)`, `=ip(self.s).family()`, `ip(self.s).isUnspecified()`, `ip(self.s).isLoopback()`, `ip(self.s).isLinkLocalMulticast()`,
		`ip(self.s).isLinkLocalUnicast()`, `ip(self.s).isGlobalUnicast()`, `ip(self.s) == ip('127.0.0.1')`, `isIP('127.0.0.1')`, `ip.isCanonical('2001:db8::abcd')`, `ip.isCanonical('2001:DB8::ABCD')`,
		`ip('127.0.0.1').family() == 4`, `ip('::1').isLoopback()`, `ip('192.168.0.1').isGlobalUnicast()`),
	"CEL-10 CEL-11 networks": evaluate(`"s":{"type":"string","maxLength":60}`,
		[]string{`{"s":"192.168.0.0/16"}`, `{"s":"192.168.0.1/24"}`, `{"s":"192.168.0.0/33"}`, `{"s":"::1/128"}`, `{"s":"::1/129"}`, `{"s":"::ffff:1.2.3.4/24"}`, `{"s":"010.0.0.0/8"}`, `{"s":"10.0.0.0"}`},
		`isCIDR(self.s)`, `=cidr(self.s)`, `=cidr(self.s).ip()`, `=cidr(self.s).ip().family()`, `=cidr(self.s).masked()`, `=cidr(self.s).prefixLength()`, `cidr(self.s) == cidr(self.s).masked()`,
		`cidr(self.s).containsIP('192.168.0.1')`, `cidr(self.s).containsIP(ip('192.168.1.1'))`, `cidr(self.s).containsCIDR('192.168.10.0/24')`, `cidr(self.s).containsCIDR(cidr('192.168.0.0/24'))`,
		`cidr(self.s).containsIP('x')`, `cidr(self.s).containsCIDR('x')`, `cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))`, `cidr('192.168.1.0/24').containsCIDR('192.168.2.0/24')`),
	"CEL-12 no authorizer": func(t *tale) {
		t.ruled(`"s":{"type":"string","maxLength":60}`, `authorizer.group('').resource('pods').namespace('default').check('create').allowed()`, `authorizer.path('/healthz').check('get').allowed()`, `request.userInfo.username == 'a'`)
	},
	"CEL-15 formats": evaluate(`"s":{"type":"string","maxLength":60}`,
		[]string{`{"s":"a-b"}`, `{"s":"A_b"}`, `{"s":"a.b/c"}`, `{"s":"-"}`, `{"s":"a-"}`, `{"s":"2024-05-06"}`, `{"s":"2024-05-06T07:08:09Z"}`, `{"s":"https://a/b"}`, `{"s":"123e4567-e89b-12d3-a456-426614174000"}`, `{"s":"YWI="}`},
		formats("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime")...),
	"CEL-15 formats by name": evaluate(`"s":{"type":"string","maxLength":60}`, []string{`{"s":"dns1123Label"}`, `{"s":"unknown"}`, `{"s":"uuid"}`},
		`format.named(self.s).hasValue()`, `#=format.named(self.s).value().validate('A').value().join(';')`, `#format.named(self.s) == optional.of(format.dns1123Label())`,
		`#{"rule":"!format.dns1123Label().validate('A_').hasValue()","messageExpression":"format.dns1123Label().validate('A_').orValue([]).join(\"; \")"}`),
	"CEL-16 quantities": evaluate(`"s":{"type":"string","maxLength":60}`,
		[]string{`{"s":"1.5G"}`, `{"s":"512k"}`, `{"s":"20Mi"}`, `{"s":"50000000000G"}`, `{"s":"-1"}`, `{"s":"1e400"}`, `{"s":"0.5"}`, `{"s":"ten"}`},
		`isQuantity(self.s)`, `=quantity(self.s).asInteger()`, `quantity(self.s).isInteger()`, `=quantity(self.s).asApproximateFloat()`, `#quantity(self.s).sign() == 1`, `=quantity(self.s).add(quantity('1k')).asApproximateFloat()`,
		`=quantity(self.s).add(20).asApproximateFloat()`, `=quantity(self.s).sub(quantity('1k')).sub(7).asApproximateFloat()`, `quantity(self.s).isLessThan(quantity('1M'))`, `quantity(self.s).isGreaterThan(quantity('1M'))`,
		`=quantity(self.s).compareTo(quantity('20Mi'))`, `quantity(self.s) == quantity('0.5k')`),
	"CEL-17 semantic versions": evaluate(`"s":{"type":"string","maxLength":60}`,
		[]string{`{"s":"1.2.3"}`, `{"s":"v1.0"}`, `{"s":"1.2.3-rc.1+build"}`, `{"s":"01.2.3"}`, `{"s":"1"}`, `{"s":"x"}`},
		`isSemver(self.s)`, `isSemver(self.s, true)`, `=semver(self.s).major()`, `=semver(self.s).minor()`, `=semver(self.s).patch()`, `=semver(self.s, true).compareTo(semver('1.0.0'))`,
		`semver(self.s).isLessThan(semver('1.2.3'))`, `semver(self.s).isGreaterThan(semver('1.2.3'))`, `semver(self.s) == semver('1.2.3')`),
	"CEL-18 optionals, numbers and two variables": evaluate(`"o":{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"},"d":{"type":"number"}}},"m":{"type":"object","maxProperties":9,"additionalProperties":{"type":"integer"}},"l":{"type":"array","maxItems":9,"items":{"type":"integer"}}`,
		[]string{`{"o":{"a":"x","n":2,"d":2.5},"m":{"a":1,"b":2},"l":[0,1,5]}`, `{"o":{},"m":{},"l":[]}`, `{}`},
		`=self.?o.?a.orValue('none')`, `self.?o.hasValue()`, `=self.?m['b'].orValue(7)`, `=self.o.?n.optMap(x, x * 2).orValue(0)`, `=self.?l[?1].orValue(-1)`, `#self.o.?a == optional.none()`, `[?self.o.?a].size() == 1`,
		`{?'k': self.o.?a}.size() == 1`, `self.o.?n.or(optional.of(3)).value() < 2.5`, `self.o.n < 2.5`, `self.o.d > 2`, `1u < 2.0`, `self.m.all(k, v, k != 'a' || v == 1)`, `self.l.exists(i, v, i == v)`,
		`self.l.existsOne(i, v, i == v)`, `=self.m.transformMap(k, v, v * 2).size()`, `=self.l.transformList(i, v, i + v).sum()`, `=self.m.transformMapEntry(k, v, {k + 'x': v}).size()`, `=self.o.?a.optFlatMap(x, optional.none()).hasValue()`),
}

// formats are two expressions for each.
func formats(names ...string) []string {
	var all []string
	for _, n := range names {
		all = append(all, `!format.`+n+`().validate(self.s).hasValue()`, `=format.`+n+`().validate(self.s).orValue([]).size()`)
	}
	return all
}
