// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import com.sun.tools.attach.VirtualMachine;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.management.Attribute;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * {@code Jmx PID [true|false]}: switches the upload of the broker with that process id, if asked to, and prints all
 * attributes of the agent's MBean as one JSON object.
 */
public final class Jmx {
    private static final String MBEAN = "walbridge:type=RemoteWalManager";

    private Jmx() {}

    public static void main(String[] args) throws Exception {
        VirtualMachine broker = VirtualMachine.attach(args[0]);
        try (JMXConnector connector =
                     JMXConnectorFactory.connect(new JMXServiceURL(broker.startLocalManagementAgent()))) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            ObjectName name = new ObjectName(MBEAN);
            if (args.length > 1) {
                server.setAttribute(name, new Attribute("Enabled", Boolean.valueOf(args[1])));
            }
            Map<String, Object> attributes = new TreeMap<>();
            for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
                attributes.put(attribute.getName(), server.getAttribute(name, attribute.getName()));
            }
            System.out.println(json(attributes));
        } finally {
            broker.detach();
        }
    }

    private static String json(Object value) {
        if (value instanceof TabularData table) { // Before Map, which some implementations are, too.
            return json(map(table.values()));
        } else if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(e -> json(e.getKey().toString()) + ":" + json(e.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        } else if (value instanceof String[] list) {
            return Arrays.stream(list).map(Jmx::json).collect(Collectors.joining(",", "[", "]"));
        } else if (value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        return "\"" + value.toString().replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    /** How JMX carries a map: rows of key and value. */
    private static Map<String, Object> map(Collection<?> rows) {
        Map<String, Object> map = new TreeMap<>();
        for (Object row : rows) {
            CompositeData entry = (CompositeData) row;
            map.put(entry.get("key").toString(), entry.get("value"));
        }
        return map;
    }
}
