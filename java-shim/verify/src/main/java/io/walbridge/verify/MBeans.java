// SPDX-License-Identifier: Apache-2.0
package io.walbridge.verify;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import javax.management.Attribute;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Reads the numbers of a JVM's MBeans, for whoever has no JMX: {@code MBeans host:port name...} prints one line of
 * JSON, the numeric attributes by MBean and name. An MBean that is not there is left out.
 */
public final class MBeans {
    private MBeans() { }

    public static void main(String[] args) throws Exception {
        var url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://" + args[0] + "/jmxrmi");
        try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
            Map<String, String> beans = new LinkedHashMap<>();
            MBeanServerConnection server = connector.getMBeanServerConnection();
            for (int i = 1; i < args.length; i++) {
                ObjectName bean = new ObjectName(args[i]);
                if (server.isRegistered(bean)) {
                    beans.put(args[i], numbers(server, bean));
                }
            }
            System.out.println(json(beans));
        }
    }

    private static String numbers(MBeanServerConnection server, ObjectName bean) throws Exception {
        Map<String, String> numbers = new LinkedHashMap<>();
        for (MBeanAttributeInfo info : server.getMBeanInfo(bean).getAttributes()) {
            for (Object read : server.getAttributes(bean, new String[] {info.getName()})) {
                if (((Attribute) read).getValue() instanceof Number number && Double.isFinite(number.doubleValue())) {
                    numbers.put(info.getName(), number.toString());
                }
            }
        }
        return json(numbers);
    }

    private static String json(Map<String, String> members) {
        return members.entrySet().stream()
                .map(member -> '"' + member.getKey().replace("\"", "\\\"") + "\":" + member.getValue())
                .collect(Collectors.joining(",", "{", "}"));
    }
}
