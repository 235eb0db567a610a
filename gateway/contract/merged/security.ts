// Which credentials the gateway asks for, in the words of OpenAPI. What a document of somebody else says about its own counts for nothing.

import type { Operation } from '../../exchange.ts';
import type { JsonObject } from '../document.ts';
import type { ContractOperation } from '../operations.ts';
import { isObject, objectAt } from '../pointer.ts';

const schemes: Readonly<Record<string, JsonObject>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, as `Authorization: Bearer <key>`. Each operation names the scopes that it has to hold.',
  },
  basic: { type: 'http', scheme: 'basic', description: 'The user name and password of the service itself.' },
};

/** Security requirements of one operation; empty: public. */
export function mergedSecurity({ security }: Operation): JsonObject[] {
  return security.map(({ scheme, scopes }) => ({ [scheme]: scopes }));
}

/** The schemes that are asked for, each as `"name":{…}`, in the words of a contract where one describes the same scheme. */
export function securitySchemes(members: readonly ContractOperation[]): string[] {
  const asked = new Set(members.flatMap(({ operation }) => operation.security.map(({ scheme }) => scheme as string)));
  const documents = [...new Set(members.map(({ document }) => document))];
  return [...asked].map((name) => {
    const described = documents
      .map(({ root }) => objectAt(root.components, 'securitySchemes')[name])
      .find((found) => isObject(found) && found.type === 'http');
    return `${JSON.stringify(name)}:${JSON.stringify(described ?? schemes[name])}`;
  });
}
