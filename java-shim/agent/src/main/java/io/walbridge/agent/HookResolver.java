// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Finds members of Kafka's classes by name and exact signature. Handles take and return Object for every reference
 * type, since the agent compiles against no class of the broker.
 */
public final class HookResolver {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    private final ClassLoader loader;

    public HookResolver(ClassLoader loader) {
        this.loader = loader;
    }

    /** The first of the names that exists: Kafka moves classes between versions. */
    public Class<?> type(String... names) throws HookMismatchException {
        ClassNotFoundException missing = null;
        for (String name : names) {
            try {
                return Class.forName(name, false, loader);
            } catch (ClassNotFoundException e) {
                missing = e;
            }
        }
        throw new HookMismatchException("class " + String.join(" or ", names), missing);
    }

    /** A method, public or not, of the class or of what it inherits from, whose result is of the type or narrower. */
    public MethodHandle method(Class<?> owner, String name, Class<?> result, Class<?>... parameters)
            throws HookMismatchException {
        String hook = owner.getName() + "." + name + "(" + signature(parameters) + "): " + result.getTypeName();
        try {
            Method method = find(owner, name, parameters);
            if (!result.isAssignableFrom(method.getReturnType())) {
                throw new NoSuchMethodException("it returns " + method.getReturnType().getTypeName());
            }
            return erased(LOOKUP.unreflect(accessible(method)));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            throw new HookMismatchException(hook, e);
        }
    }

    /** Checks that the class has a method of the name, whatever its parameters. */
    void anyMethod(Class<?> owner, String name) throws HookMismatchException {
        if (Arrays.stream(owner.getDeclaredMethods()).noneMatch(method -> method.getName().equals(name))) {
            throw new HookMismatchException(owner.getName() + "." + name,
                    new NoSuchMethodException("of any signature"));
        }
    }

    /** Checks that every constructor of the class has a parameter of the type. */
    void constructorTaking(Class<?> owner, Class<?> parameter) throws HookMismatchException {
        for (Constructor<?> constructor : owner.getDeclaredConstructors()) {
            if (!List.of(constructor.getParameterTypes()).contains(parameter)) {
                throw new HookMismatchException(owner.getName() + "(…, " + parameter.getTypeName() + ", …)",
                        new NoSuchMethodException("there is " + constructor));
            }
        }
    }

    /** A field of the class, whose type is the given one or narrower. */
    public MethodHandle getter(Class<?> owner, String name, Class<?> type) throws HookMismatchException {
        String hook = owner.getName() + "." + name + ": " + type.getTypeName();
        try {
            Field field = owner.getDeclaredField(name);
            if (!type.isAssignableFrom(field.getType())) {
                throw new NoSuchFieldException("its type is " + field.getType().getTypeName());
            }
            return erased(LOOKUP.unreflectGetter(accessible(field)));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            throw new HookMismatchException(hook, e);
        }
    }

    /** A constructor, public or not. */
    public MethodHandle constructor(Class<?> owner, Class<?>... parameters) throws HookMismatchException {
        try {
            return erased(LOOKUP.unreflectConstructor(accessible(owner.getDeclaredConstructor(parameters))));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            throw new HookMismatchException(owner.getName() + "(" + signature(parameters) + ")", e);
        }
    }

    private static String signature(Class<?>... parameters) {
        return Arrays.stream(parameters).map(Class::getTypeName).collect(Collectors.joining(", "));
    }

    private static Method find(Class<?> owner, String name, Class<?>... parameters) throws NoSuchMethodException {
        try {
            return owner.getMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            return owner.getDeclaredMethod(name, parameters);
        }
    }

    private static <T extends AccessibleObject> T accessible(T member) {
        member.setAccessible(true);
        return member;
    }

    private static MethodHandle erased(MethodHandle handle) {
        return handle.asType(handle.type().erase());
    }
}
