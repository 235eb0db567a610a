// The linter's types of OpenAPI, without the references that only the linter knows. The linter would replace a text, an example, a default
// or an extension by the content of a file, and the gateway would publish it.

import type { NodeType, Plugin } from '@redocly/openapi-core';

type TypeExtension = NonNullable<NonNullable<Plugin['typeExtension']>['oas3']>;
type Types = Parameters<TypeExtension>[0];
type Property = NodeType['properties'][string];
type Kind = Exclude<Property, (...given: never[]) => unknown>;

/** A value that the linter does not look into. */
const OPAQUE = { resolvable: false };

/** Returns the types with references only where OpenAPI defines objects. */
export const withoutFurtherReferences: TypeExtension = (types) =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, restrictType(type)])) as Types;

function restrictType(type: NodeType): NodeType {
  const { extensionsPrefix: prefix, ...rest } = type;
  const properties = Object.entries(type.properties).map(([name, property]) => {
    const isExtension = prefix !== undefined && name.startsWith(prefix);
    return [name, isExtension ? OPAQUE : restrictedProperty(property)] as const;
  });
  const further = type.additionalProperties && restrictedProperty(type.additionalProperties);
  return {
    ...rest,
    properties: Object.fromEntries(properties),
    ...(prefix === undefined
      ? { ...(further && { additionalProperties: further }) }
      : { additionalProperties: apartFrom(prefix, further) }),
  };
}

/** Excludes the names of extensions, which have no type, because the linter would take them for members of the map around them. */
function apartFrom(prefix: string, further: Property | undefined): Property {
  return (value: unknown, name: string) => {
    if (name.startsWith(prefix)) return OPAQUE;
    return typeof further === 'function' ? further(value, name) : further;
  };
}

function restrictedProperty(property: Property): Property {
  if (typeof property !== 'function') return restrictedKind(property);
  return (value: unknown, name: string) => restrictedKind(property(value, name));
}

/**
 * Restricts a kind. A name of a type, or a type with a name, is an object of OpenAPI. All others are values, such as texts, numbers and
 * examples.
 */
function restrictedKind(kind: Kind): Kind {
  if (kind === null || kind === undefined || typeof kind === 'string') return kind;
  // A mapping of a discriminator refers to schemas.
  if ('name' in kind || 'directResolveAs' in kind) return kind;
  return { ...kind, resolvable: false };
}
