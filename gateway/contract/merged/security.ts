// The gateway's security requirements in the form of OpenAPI. The requirements that a contract declares for its own service are
// ignored.

import type { Operation } from '../../exchange.ts';
import type { ContractOperation } from '../operations.ts';
import { isObject, type JsonObject, objectAt } from '../pointer.ts';

const schemes: Readonly<Record<string, JsonObject>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, as `Authorization: Bearer <key>`. Each operation names the scopes that it has to hold.',
  },
  basic: { type: 'http', scheme: 'basic', description: 'The user name and password of the service itself.' },
};

/** Returns the security requirements of one operation; empty: public. */
export function mergedSecurity({ security }: Operation): JsonObject[] {
  return security.map(({ scheme, scopes }) => ({ [scheme]: scopes }));
}

/** Returns the required schemes, each as `"name":{…}`. Uses the description of a contract if one describes a scheme of this name. */
export function securitySchemes(members: readonly ContractOperation[]): string[] {
  const required = new Set(
    members.flatMap(({ operation }) => operation.security.map(({ scheme }) => scheme as string)),
  );
  const documents = [...new Set(members.map(({ document }) => document))];
  return [...required].map((name) => {
    const described = documents
      .map(({ root }) => objectAt(root.components, 'securitySchemes')[name])
      .find((found) => isObject(found) && found.type === 'http');
    return `${JSON.stringify(name)}:${JSON.stringify(described ?? schemes[name])}`;
  });
}
