package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/walbridge/walbridge/backends/gcs"
	"github.com/walbridge/walbridge/backends/s3"
	"github.com/walbridge/walbridge/cmd/walbridge/config"
)

func configCommand() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Work with the configuration file"}
	c.AddCommand(&cobra.Command{
		Use:     "check FILE",
		Short:   "Check a configuration file without starting anything",
		Long:    "Check reads FILE as serve would, and reports the first mistake with file, line, column and what would be valid.",
		Example: "  walbridge config check /etc/walbridge/walbridge.yaml",
		Args:    exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadConfig(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: ok, broker %d of cluster %s, %d zones, quorum %d\n", args[0], c.BrokerID,
				c.ClusterID, len(c.Zones), c.Quorum)
			return nil
		},
	})
	c.AddCommand(&cobra.Command{
		Use:     "reference",
		Short:   "Print what every key of the configuration means, as Markdown",
		Example: "  walbridge config reference | less",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), config.Reference())
			return err
		},
	})
	return c
}

// checkZone parses a zone's URL as openZone does, and opens nothing.
func checkZone(zoneURL string) error {
	u, err := url.Parse(zoneURL)
	if err != nil {
		return err
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			return errors.New("a file zone is file:///absolute/path")
		}
	case "s3":
		_, err = s3.ParseURL(zoneURL)
	case "gs":
		_, err = gcs.ParseURL(zoneURL)
	default:
		return errors.New("the scheme must be file, s3 or gs")
	}
	return err
}

func loadConfig(path string) (*config.Config, error) {
	c, err := config.Load(path, checkZone)
	if err != nil {
		return nil, coded{exitUsage, err}
	}
	return c, nil
}
