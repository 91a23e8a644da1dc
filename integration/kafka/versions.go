package kafka

import (
	"embed"
	"os"
	"slices"
)

// Newest is the newest Kafka that the product supports.
const Newest = "4.4.0"

//go:embed */pom.xml
var poms embed.FS

// Versions are the Kafkas that the product supports, the newest release of each minor version, oldest first: those
// with a pom here.
func Versions() []string {
	found, err := poms.ReadDir(".")
	if err != nil {
		panic(err) // An embedded directory can be read.
	}
	var versions []string
	for _, entry := range found {
		versions = append(versions, entry.Name())
	}
	slices.Sort(versions)
	return versions
}

// Tested are the versions that a test runs: the oldest and the newest, or with WALBRIDGE_VERSIONS=all every one. The
// Makefile fetches the same.
func Tested() []string {
	versions := Versions()
	if os.Getenv("WALBRIDGE_VERSIONS") == "all" {
		return versions
	}
	return []string{versions[0], Newest}
}
