package s3_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The example policies grant what this package asks for, and nothing else.
func TestPolicies(t *testing.T) {
	for file, want := range map[string][]string{
		"policy-express.json": {"s3express:CreateSession"},
		"policy-s3.json":      {"s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"},
		"policy-doctor.json": {
			"s3:GetBucketVersioning", "s3:GetLifecycleConfiguration", "s3express:GetLifecycleConfiguration",
		},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "aws", file))
		if err != nil {
			t.Fatal(err)
		}
		var policy struct {
			Statement []struct {
				Effect           string
				Action, Resource any
			}
		}
		if err := json.Unmarshal(text, &policy); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got := map[string]bool{}
		for _, s := range policy.Statement {
			if s.Effect != "Allow" || slices.Contains(words(s.Resource), "*") {
				t.Errorf("%s: %v on %v", file, s.Effect, s.Resource)
			}
			for _, action := range words(s.Action) {
				got[action] = true
			}
		}
		if actions := slices.Sorted(maps.Keys(got)); !slices.Equal(actions, want) {
			t.Errorf("%s grants %s, want %s", file, strings.Join(actions, " "), strings.Join(want, " "))
		}
	}
}

// words are the strings of a value that may be one string or a list of them.
func words(v any) (words []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, w := range v {
			if s, ok := w.(string); ok {
				words = append(words, s)
			}
		}
	}
	return words
}
