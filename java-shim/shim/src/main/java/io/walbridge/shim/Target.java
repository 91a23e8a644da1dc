package io.walbridge.shim;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;

/**
 * Where the daemon listens.
 *
 * @param path the socket's absolute path, or null
 * @param dns  grpc's {@code dns:///host:port}, or null
 */
record Target(String path, String dns) {

    static final String FORMS = "unix:///path/to/socket, unix:/path/to/socket or dns:///host:port";

    /** Longer paths do not fit into Linux's sockaddr_un. */
    private static final int MAX_PATH = 107;

    /** @throws IllegalArgumentException if {@code target} has none of the {@link #FORMS}; the message says why */
    static Target parse(String target) {
        if (target.startsWith("unix:")) {
            String path = target.substring("unix:".length());
            path = path.startsWith("//") ? path.substring(2) : path;
            if (!path.startsWith("/") || path.startsWith("//") || path.endsWith("/")) {
                throw new IllegalArgumentException("the socket's path must be absolute: " + FORMS);
            }
            if (path.getBytes(StandardCharsets.UTF_8).length > MAX_PATH) {
                throw new IllegalArgumentException("a socket's path has at most " + MAX_PATH + " bytes");
            }
            return new Target(path, null);
        }
        if (target.startsWith("dns:///")) {
            try {
                URI address = new URI("dns://" + target.substring("dns:///".length())).parseServerAuthority();
                boolean only = address.getPath().isEmpty() && address.getQuery() == null
                        && address.getFragment() == null && address.getUserInfo() == null;
                if (only && address.getHost() != null && address.getPort() > 0 && address.getPort() < 1 << 16) {
                    return new Target(null, target);
                }
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException("no host and port in it: " + FORMS, e);
            }
            throw new IllegalArgumentException("no host and port in it: " + FORMS);
        }
        throw new IllegalArgumentException("it must be " + FORMS);
    }

    boolean isUnix() {
        return path != null;
    }

    @Override
    public String toString() {
        return isUnix() ? "unix:" + path : dns;
    }
}
