// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.log.remote.storage.RemoteWalStorageManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Makes the configured RemoteWalStorageManager. A class path of its own comes first, so that an implementation can
 * bring other versions of what the broker uses; what the two share, Kafka's classes and the logger's, never does.
 */
final class StorageManagerLoader extends URLClassLoader {
    private static final Logger LOG = LoggerFactory.getLogger(StorageManagerLoader.class);

    private static final List<String> SHARED = List.of("java.", "org.apache.kafka.", "org.slf4j.");

    private StorageManagerLoader(URL[] urls, ClassLoader parent) {
        super(urls, parent);
    }

    /**
     * Creates and configures the storage manager. Besides its own keys it is told cluster.id and broker.id.
     *
     * @throws ConfigException where there is no such class, or it cannot be used, or refuses its configuration
     */
    static RemoteWalStorageManager create(RemoteWalManagerConfig config, Broker broker) {
        RemoteWalStorageManager storage = create(config.getString(RemoteWalManagerConfig.CLASS_NAME),
                config.getString(RemoteWalManagerConfig.CLASS_PATH), StorageManagerLoader.class.getClassLoader());
        try {
            storage.configure(properties(config, broker));
        } catch (RuntimeException | Error e) {
            close(storage);
            throw e;
        }
        return storage;
    }

    /** What a storage manager is configured with. */
    static Map<String, Object> properties(RemoteWalManagerConfig config, Broker broker) {
        Map<String, Object> properties = config.storageManagerConfig();
        properties.put("cluster.id", broker.clusterId());
        properties.put("broker.id", broker.id());
        return properties;
    }

    /** Closes a storage manager, and the jars that only it was using. */
    static void close(RemoteWalStorageManager storage) {
        try {
            storage.close();
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("Cannot close {}", storage.getClass().getName(), e);
        } finally {
            closeJars(storage.getClass().getClassLoader());
        }
    }

    private static void closeJars(ClassLoader loader) {
        if (loader instanceof StorageManagerLoader own) {
            try {
                own.close();
            } catch (IOException e) {
                LOG.warn("Cannot close the class path of a storage manager", e);
            }
        }
    }

    private static RemoteWalStorageManager create(String className, String classPath, ClassLoader parent) {
        ClassLoader loader = classPath.isBlank() ? parent : new StorageManagerLoader(urls(classPath), parent);
        try {
            return Class.forName(className, true, loader).asSubclass(RemoteWalStorageManager.class)
                    .getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            closeJars(loader);
            throw new ConfigException(RemoteWalManagerConfig.CLASS_NAME, className, "cannot be created: " + e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (SHARED.stream().anyMatch(name::startsWith)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null) {
                try {
                    loaded = findClass(name);
                } catch (ClassNotFoundException e) {
                    return super.loadClass(name, resolve);
                }
            }
            if (resolve) {
                resolveClass(loaded);
            }
            return loaded;
        }
    }

    private static URL[] urls(String classPath) {
        return Arrays.stream(classPath.split(File.pathSeparator)).flatMap(StorageManagerLoader::files)
                .map(StorageManagerLoader::url).toArray(URL[]::new);
    }

    private static Stream<File> files(String element) {
        if (!element.endsWith("/*")) {
            return Stream.of(new File(element));
        }
        File[] jars = new File(element.substring(0, element.length() - 2))
                .listFiles((directory, name) -> name.endsWith(".jar"));
        return jars == null ? Stream.empty() : Arrays.stream(jars);
    }

    private static URL url(File file) {
        try {
            return file.toURI().toURL();
        } catch (MalformedURLException e) {
            throw new ConfigException(RemoteWalManagerConfig.CLASS_PATH, file, e.getMessage());
        }
    }
}
