package draft

import "testing"

// A text has the parts that its name, or its description, says, if each is there once.
func TestTextsAreSplitIntoWhatTheySay(t *testing.T) {
	const text, integer = `{"type":"string"}`, `{"type":"integer"}`
	expectGuess(t, "by its name", `{"hostAndPort":`+text+`}`, `{"host":`+text+`,"port":`+text+`}`,
		"hostAndPort: split by : into host,port? | another separator | fields that have nothing to do with it")
	expectGuess(t, "by what it is called", `{"endpoint":`+text+`}`, `{"serverHost":`+text+`,"serverPort":`+integer+`}`,
		"endpoint: split by : into serverHost,serverPort? | another separator | fields that have nothing to do with it", "serverPort: string to integer?")
	expectGuess(t, "by its description", `{"backend":{"type":"string","description":"The host, a colon and the port."}}`, `{"host":`+text+`,"port":`+text+`}`,
		"backend: split by : into host,port? | another separator | fields that have nothing to do with it")
	expectGuess(t, "by its pattern", `{"endpoint":{"type":"string","pattern":"^[a-z]+:[0-9]+$"}}`, `{"host":`+text+`,"port":`+text+`}`,
		"endpoint: split by : into host,port")
	expectGuess(t, "one part only", `{"endpoint":`+text+`}`, `{"host":`+text+`}`,
		"host: restore", "endpoint: keep")
	expectGuess(t, "the other part only", `{"endpoint":`+text+`}`, `{"port":`+text+`}`,
		"port: restore? | endpoint is port (26%)", "endpoint: keep? | endpoint is port (26%)")
	expectGuess(t, "a part that is there twice", `{"endpoint":`+text+`}`, `{"host":`+text+`,"aPort":`+text+`,"bPort":`+text+`}`,
		"aPort: restore? | endpoint is aPort (26%)", "bPort: restore? | endpoint is bPort (26%)", "host: restore", "endpoint: keep? | endpoint is aPort (26%) | endpoint is bPort (26%)")
	expectGuess(t, "what says nothing of it", `{"zone":`+text+`}`, `{"host":`+text+`,"port":`+text+`}`,
		"host: restore", "port: restore", "zone: keep")
	expectGuess(t, "a description with one of them", `{"zone":{"type":"string","description":"The host."}}`, `{"host":`+text+`,"port":`+text+`}`,
		"host: restore", "port: restore", "zone: keep")
	expectGuess(t, "no text", `{"hostAndPort":`+integer+`}`, `{"host":`+text+`,"port":`+text+`}`,
		"host: restore? | hostAndPort is host (48%)", "port: restore? | hostAndPort is port (48%)", "hostAndPort: keep? | hostAndPort is host (48%) | hostAndPort is port (48%)")
	expectGuess(t, "a text of few values", `{"hostAndPort":{"type":"string","enum":["a:1"]}}`, `{"host":`+text+`,"port":`+text+`}`,
		"port: restore? | hostAndPort is port (54%)", "hostAndPort: rename to host? | hostAndPort is port (54%)")
	expectGuess(t, "parts that are no texts", `{"hostAndPort":`+text+`}`, `{"host":{"type":"boolean"},"port":`+text+`}`,
		"host: restore? | hostAndPort is host (48%)", "hostAndPort: rename to port? | hostAndPort is host (48%)")
	expectGuess(t, "parts in an object", `{"hostAndPort":`+text+`}`, `{"a":{"type":"object","properties":{"host":`+text+`}},"b":{"type":"object","properties":{"host":`+text+`,"port":`+text+`}}}`,
		"a: restore", "b: restore", "hostAndPort: split by : into b.host,b.port? | another separator | fields that have nothing to do with it")
	expectGuess(t, "the parts of something else before them", `{"reference":`+text+`}`, `{"host":`+text+`,"port":`+text+`,"namespace":`+text+`,"name":`+text+`}`,
		"host: restore", "port: restore", "reference: split by / into namespace,name? | another separator | fields that have nothing to do with it")
	expectGuess(t, "parts in items", `{"hostAndPort":`+text+`}`, `{"a":{"type":"array","items":{"type":"object","properties":{"host":`+text+`,"port":`+text+`}}}}`,
		"a: restore", "hostAndPort: keep")
}

// Where the names of two fields make that of a text, these are its parts, and a separator is
// guessed unless it is said.
func TestTextsWithTheNamesOfTheirParts(t *testing.T) {
	const text = `{"type":"string"}`
	parts := `{"blue":` + text + `,"green":` + text + `}`
	expectGuess(t, "guessed", `{"blueGreen":`+text+`}`, parts,
		"blueGreen: split by / into blue,green? | another separator | fields that have nothing to do with it")
	expectGuess(t, "said", `{"blueGreen":{"type":"string","description":"Is blue-green."}}`, parts,
		"blueGreen: split by - into blue,green")
	expectGuess(t, "said with brackets", `{"blueGreen":{"type":"string","description":"Is <blue>.<green>."}}`, parts,
		"blueGreen: split by . into blue,green")
	expectGuess(t, "a dash in a pattern says nothing", `{"blueGreen":{"type":"string","pattern":"^[a-z.]+$"}}`, parts,
		"blueGreen: split by / into blue,green? | another separator | fields that have nothing to do with it")
	expectGuess(t, "the other order", `{"greenBlue":`+text+`}`, parts,
		"greenBlue: split by / into green,blue? | another separator | fields that have nothing to do with it")
	expectGuess(t, "twice the same", `{"blueBlue":`+text+`}`, parts,
		"green: restore", "blueBlue: rename to blue?")
	expectGuess(t, "joined", parts, `{"blueGreen":`+text+`}`,
		"blueGreen: join by / of blue,green? | another separator | fields that have nothing to do with it")
	expectGuess(t, "joined of numbers", `{"host":`+text+`,"port":{"type":"integer"}}`, `{"hostPort":`+text+`}`,
		"port: integer to string?", "hostPort: join by : of host,port? | another separator | fields that have nothing to do with it")
}

// A pattern says the separator only where that is written at one place of every text: signs of
// the pattern's own say nothing, nor does what may be there, or be there again.
func TestPatternsSayTheSeparator(t *testing.T) {
	const text = `{"type":"string"}`
	for pattern, want := range map[string]string{
		`^[a-z]{1,63}-[a-z]{1,9}$`:          "blueGreen: split by - into blue,green",
		`^([a-z]+)[,]([a-z]+)$`:             "blueGreen: split by , into blue,green",
		`^(?:[a-z]{1,9})(?:=)([a-z]{1,9})$`: "blueGreen: split by = into blue,green",
		`^[a-z]+\\.[a-z]+$`:                 "blueGreen: split by . into blue,green",
		`^[a-z]{1,63}$`:                     "",
		`^(?:[a-z]+)$`:                      "",
		`^[^:]+$`:                           "",
		`^[a-z@=]+$`:                        "",
		`^[a-z]+(:[a-z]+)?$`:                "",
		`^[a-z]+(:[a-z]+)*$`:                "",
		`^[a-z]+(:[a-z]+)+$`:                "",
		`^[a-z]+:[a-z]+:[a-z]+$`:            "",
		`^([a-z]+:[a-z]+|none)$`:            "",
		`^/[a-z]+$`:                         "",
		`^[a-z]+/$`:                         "",
		`^team-[a-z]+$`:                     "",
		`^[a-z0-9-]+-[a-z0-9]+$`:            "",
		`^[a-z]+-([a-z]+|[a-z]+(b-c)?)$`:    "",
		`^.+-.+$`:                           "",
		`[a-z]+-[a-z]+`:                     "",
		`^[a-z]+-[a-z]+`:                    "",
		`[a-z]+-[a-z]+$`:                    "",
		`(?m)^[a-z]+-[a-z]+$`:               "",
		`^[a-z`:                             "",
	} {
		if want == "" {
			want = "blueGreen: split by / into blue,green? | another separator | fields that have nothing to do with it"
		}
		expectGuess(t, pattern, `{"blueGreen":{"type":"string","pattern":"`+pattern+`"}}`, `{"blue":`+text+`,"green":`+text+`}`, want)
	}
	for pattern, want := range map[string]string{
		`^(https?)://([a-z.]+(:[0-9]+)?)$`: "url: split by :// into scheme,host",
		`^[a-z]+://[a-z.:/]+$`:             "url: split by :// into scheme,host? | another separator | fields that have nothing to do with it",
	} {
		expectGuess(t, pattern, `{"url":{"type":"string","pattern":"`+pattern+`"}}`, `{"scheme":`+text+`,"host":`+text+`}`, want)
	}
	expectGuess(t, "what is known", `{"hostAndPort":{"type":"string","pattern":"^(?:[a-z]{1,63})$"}}`, `{"host":`+text+`,"port":`+text+`}`,
		"hostAndPort: split by : into host,port? | another separator | fields that have nothing to do with it")
}
