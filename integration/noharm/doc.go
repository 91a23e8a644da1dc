// Package noharm shows that a broker with the agent serves as if it had none, whatever its daemon does, and that the
// agent can be switched, configured and watched while the broker runs.
package noharm
