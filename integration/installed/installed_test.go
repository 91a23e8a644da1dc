package installed_test

import (
	"testing"

	"github.com/walbridge/walbridge/integration/installed"
)

// A document's commands can fail: on their own, or because a stand-in does not know what is asked of it.
func TestRun(t *testing.T) {
	r := installed.Root{Dir: t.TempDir(), Dist: t.TempDir()}
	for script, works := range map[string]bool{
		`[ /etc/walbridge/x = "$ROOT/etc"/walbridge/x ]`:                                       true,
		`[ file:///srv/walbridge = "file://$ROOT/srv"/walbridge ]`:                             true,
		"install -d -o walbridge -g walbridge /srv/walbridge/{a,b} && [ -d /srv/walbridge/b ]": true,
		"runuser -u walbridge -- true":                                                         true,
		"runuser -u walbridge -- false":                                                        false,
		"false; true":                                                                          false,
		"apt install ./walbridge_9.9_amd64.deb":                                                false,
		"apt remove walbridge":                                                                 false,
		"usermod -aG nobodys kafka":                                                            false,
		"systemctl enable --now no-such-service":                                               false,
		"systemctl frobnicate walbridge":                                                       false,
		"walbridge status":                                                                     false,
	} {
		if err := r.Run(t.Context(), script); (err == nil) != works {
			t.Errorf("%s: %v, want that it works: %v", script, err, works)
		}
	}
}
