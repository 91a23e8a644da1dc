package kafka

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreePorts returns n ports of loopback that nothing listens on. They lie below the range that the kernel picks the
// ports of outgoing connections from, so none is taken before its broker listens.
func FreePorts(n int) ([]int, error) {
	const first, last, attempts = 20000, 31999, 1000
	var ports []int
	for range attempts {
		if len(ports) == n {
			return ports, nil
		}
		port := first + rand.IntN(last-first+1)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		// Held until all are found, or the same could be found twice.
		defer listener.Close()
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("find %d free ports in %d-%d: %w", n, first, last, errors.New("too many are taken"))
}
