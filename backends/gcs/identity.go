package gcs

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/oauth2/google"
)

// identity is who the SDK is to the service. It looks where the SDK looks, and is for the log only: wrong credentials
// that were found in a place nobody thought of should be seen at the start.
type identity struct{ name, source string }

func whoami(ctx context.Context) identity {
	if host := os.Getenv("STORAGE_EMULATOR_HOST_GRPC"); host != "" {
		return identity{name: "none", source: "emulator at " + host}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	creds, err := google.FindDefaultCredentials(ctx)
	switch {
	case err != nil:
		return identity{name: "unknown", source: err.Error()}
	case creds.JSON == nil:
		return identity{name: cmp.Or(instanceAccount(ctx), "unknown"), source: "metadata server"}
	}
	source := cmp.Or(os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"), "gcloud's application default credentials")
	return identity{name: account(creds.JSON), source: source}
}

// account names whom credentials in a file are of, without any secret.
func account(file []byte) string {
	var f struct {
		Type          string `json:"type"`
		ClientEmail   string `json:"client_email"`
		Impersonation string `json:"service_account_impersonation_url"`
		Audience      string `json:"audience"`
	}
	if err := json.Unmarshal(file, &f); err != nil {
		return "unknown"
	}
	return cmp.Or(f.ClientEmail, f.Impersonation, f.Audience, f.Type)
}

// instanceAccount asks the metadata server for the service account of this machine.
func instanceAccount(ctx context.Context) string {
	const url = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/email"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return ""
	}
	req.Header.Set("Metadata-Flavor", "Google")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	email, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	return string(email)
}
