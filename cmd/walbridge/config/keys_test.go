package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The table has exactly the keys that the file may have.
func TestKeysAreTheFilesKeys(t *testing.T) {
	var fields []string
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			fields = append(fields, path)
			t, path = t.Elem(), path+"[]"
		}
		if t.Kind() != reflect.Struct {
			fields = append(fields, path)
			return
		}
		for i := range t.NumField() {
			walk(t.Field(i).Type, strings.TrimPrefix(path+"."+t.Field(i).Tag.Get("yaml"), "."))
		}
	}
	walk(reflect.TypeFor[Config](), "")
	var keys []string
	for _, k := range Keys {
		keys = append(keys, k.Path)
		if k.Doc == "" || k.Valid == "" {
			t.Errorf("%s: says not what it means or must be", k.Path)
		}
	}
	slices.Sort(fields)
	slices.Sort(keys)
	if !slices.Equal(fields, keys) {
		t.Errorf("the file has %q\nthe table has %q", fields, keys)
	}
}

// docs/configuration.md is what `walbridge config reference` prints.
func TestReferenceIsFresh(t *testing.T) {
	b, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != Reference() {
		t.Error("docs/configuration.md is stale. Run: bin/walbridge config reference > docs/configuration.md")
	}
}

// The example shows every key that has a default, with that default.
func TestExampleShowsTheDefaults(t *testing.T) {
	b, err := os.ReadFile("../../../deploy/walbridge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	shown := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "# "), "#")
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(value, " #")
		if value = strings.TrimSpace(value); value == "" && !strings.HasPrefix(name, " ") {
			section = name + "."
			continue
		}
		if strings.HasPrefix(name, " ") {
			name = section + strings.TrimSpace(name)
		}
		shown[name] = value
	}
	for _, k := range Keys {
		if k.Default != "" && shown[k.Path] != k.Default {
			t.Errorf("%s: the example shows %q, the default is %q", k.Path, shown[k.Path], k.Default)
		}
	}
}

func TestSecretsFromTheEnvironment(t *testing.T) {
	env := []string{"WALBRIDGE_ZONE_B_URL=s3://b?external_id=hush", "WALBRIDGE_TRACING_HEADERS=authorization=hush"}
	c, err := Parse("w.yaml", []byte(valid), env, anyZone)
	if err != nil {
		t.Fatal(err)
	}
	if c.Zones[1].URL != "s3://b?external_id=hush" || c.Tracing.Headers != "authorization=hush" {
		t.Errorf("got %+v", c)
	}
	if _, err := Parse("w.yaml", []byte(valid), []string{"WALBRIDGE_ZONE_X_URL=file:///x"}, anyZone); err == nil {
		t.Error("a variable for a zone that is not there was accepted")
	}
	// A mistake in a secret is reported without it.
	for _, wrong := range []string{"WALBRIDGE_TRACING_HEADERS=hush", "WALBRIDGE_ZONE_B_URL=file:///srv/a?external_id=hush"} {
		if _, err := Parse("w.yaml", []byte(valid), []string{wrong}, anyZone); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
}

func TestChanges(t *testing.T) {
	a, err := Parse("w.yaml", []byte(valid), nil, anyZone)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(valid, "linger: 0s", "linger: 1ms", 1) + "log: {level: debug}\nsocket: {allow_users: [kafka]}\n"
	b, err := Parse("w.yaml", []byte(text), nil, anyZone)
	if err != nil {
		t.Fatal(err)
	}
	applied, waiting := Changes(a, b)
	if !slices.Equal(applied, []string{"log.level", "socket.allow_users"}) || !slices.Equal(waiting, []string{"combine.linger"}) {
		t.Errorf("applied %q, waiting %q", applied, waiting)
	}
}
