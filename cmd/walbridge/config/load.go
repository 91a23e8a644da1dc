package config

import (
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// Load reads and checks the file, with the secrets that the environment has instead of it. The error names file, line
// and column. checkZone says what is wrong with a zone's URL, as far as its store can tell without asking the zone.
func Load(path string, checkZone func(zoneURL string) error) (*Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(path, b, os.Environ(), checkZone)
}

// Parse is Load of a file's content and an environment.
func Parse(path string, b []byte, environ []string, checkZone func(zoneURL string) error) (*Config, error) {
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, explain(path, nil, err)
	}
	c := Config{BrokerID: -1}
	if err := yaml.Unmarshal([]byte(defaults()), &c); err != nil {
		return nil, fmt.Errorf("the defaults: %w", err)
	}
	if err := yaml.UnmarshalWithOptions(b, &c, yaml.Strict()); err != nil {
		return nil, explain(path, file, err)
	}
	if err := c.fromEnvironment(environ); err != nil {
		return nil, err
	}
	if c.Quorum == 0 {
		c.Quorum = len(c.Zones)/2 + 1
	}
	if c.LocalZone == "" && len(c.Zones) > 0 {
		c.LocalZone = c.Zones[0].Name
	}
	ck := check{path: path, file: file, zone: checkZone}
	ck.config(&c)
	if ck.err != nil {
		return nil, ck.err
	}
	return &c, nil
}
