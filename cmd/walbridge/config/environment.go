package config

import (
	"fmt"
	"strings"
)

const (
	envHeaders = "WALBRIDGE_TRACING_HEADERS"
	envZone    = "WALBRIDGE_ZONE_"
	envURL     = "_URL"
)

// fromEnvironment takes secrets, and nothing else, from the environment.
func (c *Config) fromEnvironment(environ []string) error {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == envHeaders:
			c.Tracing.Headers = value
		case strings.HasPrefix(name, envZone) && strings.HasSuffix(name, envURL):
			if err := c.zoneURL(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Config) zoneURL(variable, value string) error {
	for i := range c.Zones {
		if variable == envZone+capitals(c.Zones[i].Name)+envURL {
			c.Zones[i].URL = value
			return nil
		}
	}
	return fmt.Errorf("environment variable %s: no zone of the configuration is called so", variable)
}

func capitals(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}
