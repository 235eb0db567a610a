// The gateway's security requirements in the form of OpenAPI. The requirements that a contract declares for its own service are
// ignored.

import type { Operation } from '../../exchange/operation.ts';
import { sessionCookieName } from '../../shared/http/session-cookies.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { isRecord, type JsonObject, objectAt } from '../pointer.ts';

const SECURITY_SCHEMES: Readonly<Record<string, JsonObject>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, as `Authorization: Bearer <key>`. Each operation names the scopes that it has to hold.',
  },
  basic: { type: 'http', scheme: 'basic', description: 'The user name and password of the service itself.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookieName(true),
    description: 'The session of a person who has signed in with a browser. Pages of the same origin alone can use it.',
  },
};

/** The member of a published operation with its requirements and their scopes, in the form of `security`. */
export const SCOPES = 'x-security-scopes';

/**
 * Returns the members of a published operation that say who may call it. An empty `security` means that the operation is public. Scopes are
 * an extension and a sentence of the description, because generators show only the latter, and linters know only scopes of OAuth schemes.
 *
 * @param description the description in the contract
 */
export function mergedSecurity({ security }: Operation, description: unknown): JsonObject {
  const scoped = security.filter(({ scopes }) => scopes.length > 0);
  if (scoped.length === 0) return { security: security.map(({ scheme }) => ({ [scheme]: [] })) };
  const hasKeys = scoped.some(({ scheme }) => scheme !== 'session');
  const ofKeys = scoped.filter(({ scheme }) => (scheme !== 'session') === hasKeys);
  const named = ofKeys.map(({ scopes }) => scopes.map((scope) => `\`${scope}\``).join(' and ')).join(' or ');
  const text = typeof description === 'string' && description !== '' ? `${description.trimEnd()}\n\n` : '';
  return {
    description: `${text}${hasKeys ? 'An API key' : 'A person who has signed in'} has to hold ${named}.`,
    security: security.map(({ scheme }) => ({ [scheme]: [] })),
    [SCOPES]: security.map(({ scheme, scopes }) => ({ [scheme]: scopes })),
  };
}

/** Returns the required schemes, each as `"name":{…}`. If a contract describes a scheme of this name, its description is used. */
export function securitySchemes(members: readonly ContractOperation[]): string[] {
  const required = new Set(
    members.flatMap(({ operation }) => operation.security.map(({ scheme }) => scheme as string)),
  );
  const documents = [...new Set(members.map(({ document }) => document))];
  return [...required].map((name) => {
    const described = documents
      .map(({ root }) => objectAt(root.components, 'securitySchemes')[name])
      .find((found) => isRecord(found) && found.type === 'http');
    return `${JSON.stringify(name)}:${JSON.stringify(described ?? SECURITY_SCHEMES[name])}`;
  });
}
