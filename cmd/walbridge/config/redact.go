package config

import (
	"net/url"
	"strings"
)

// Redact returns a zone's URL as it may be shown: without a password, and without what a role is guarded by.
func Redact(zone string) string {
	u, err := url.Parse(zone)
	if err != nil {
		return "(not a URL)"
	}
	if q := u.Query(); q.Has("external_id") {
		q.Set("external_id", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// Hide returns err without the secrets of a zone's URL in its text.
func Hide(err error, zone string) error {
	u, parseErr := url.Parse(zone)
	if err == nil || parseErr != nil {
		return err
	}
	password, _ := u.User.Password()
	hidden := &hiddenError{err: err, text: err.Error()}
	for _, secret := range []string{password, u.Query().Get("external_id")} {
		if secret != "" {
			hidden.text = strings.ReplaceAll(hidden.text, secret, "xxxxx")
		}
	}
	return hidden
}

// hiddenError is another error that tells less.
type hiddenError struct {
	err  error
	text string
}

func (h *hiddenError) Error() string { return h.text }
func (h *hiddenError) Unwrap() error { return h.err }
