package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

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

func loadConfig(path string) (*config.Config, error) {
	c, err := config.Load(path)
	if err != nil {
		return nil, coded{exitUsage, err}
	}
	return c, nil
}
