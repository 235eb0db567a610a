// Converts the security schemes of a document to the header fields with which the gateway meets them. Pure.

import { isRecord, type JsonObject, objectAt } from '../../contract/pointer.ts';
import { mayCarryCredential } from '../../shared/http/owned-headers.ts';
import { isFieldName } from '../../shared/http/words.ts';

/** The header with which a client meets one security scheme. */
export interface SchemePart {
  readonly kind: string;
  readonly header: string;
  /** The setting for this part alone, by the entry of its secret. */
  setting(secret: string): string;
  /** The last word of the name of the secret. */
  readonly holds: string;
  /** The value of the header beside other headers, as an operator fills it in. */
  readonly value: string;
  readonly asked: string;
}

/** Returns the part for a scheme; undefined for a scheme that the gateway cannot meet, such as a key in the query. */
export function schemePartOf(scheme: JsonObject): SchemePart | undefined {
  const [kind, header] = [String(scheme.scheme ?? scheme.type).toLowerCase(), String(scheme.name)];
  if (scheme.type === 'apiKey' && scheme.in === 'header') {
    if (!isFieldName(header) || !mayCarryCredential(header.toLowerCase())) return undefined;
    const setting = (secret: string) => `{ apiKey: { header: ${header}, secret: ${secret} } }`;
    return { kind: keyKind(header), header, setting, holds: 'key', value: '…', asked: `a key in ${header}` };
  }
  return Object.hasOwn(LOGINS, kind) ? LOGINS[kind] : undefined;
}

/** The schemes of HTTP that the gateway can meet. */
const LOGINS: Readonly<Record<string, SchemePart>> = {
  bearer: {
    kind: 'bearer',
    header: 'Authorization',
    setting: (secret) => `{ bearer: { secret: ${secret} } }`,
    holds: 'token',
    value: 'Bearer …',
    asked: 'a token in Authorization: Bearer',
  },
  basic: {
    kind: 'basic',
    header: 'Authorization',
    setting: (secret) => `{ basic: { user: gateway, secret: ${secret} } }`,
    holds: 'password',
    value: 'Basic BASE64_OF_USER:PASSWORD',
    asked: 'a user name and a password',
  },
};

export function keyKind(header: string): string {
  return `apiKey ${header.toLowerCase()}`;
}

export function schemesIn(root: JsonObject): JsonObject {
  return { ...objectAt(root, 'securityDefinitions'), ...objectAt(objectAt(root, 'components'), 'securitySchemes') };
}

export function mapHttp(schemes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemes).map(([name, one]) => [name, isRecord(one) ? asHttp(one) : one]));
}

/** OAuth and OpenID Connect are ways to get a token, which is sent like any other. */
export function asHttp(scheme: JsonObject): JsonObject {
  return scheme.type === 'oauth2' || scheme.type === 'openIdConnect' ? { type: 'http', scheme: 'bearer' } : scheme;
}

/** What to do about a credential that the gateway cannot send. */
export const UNSENT_REMEDY =
  'The gateway sends credentials in headers, and client certificates by `tls` of the entry. Use a header that the service accepts, or a proxy in front of it that adds the rest.';

/** Returns the words for a scheme that the gateway cannot meet. */
export function unsentWords({ type, in: place, name, scheme }: JsonObject): string {
  if (type === 'apiKey') return place === 'cookie' ? `the cookie ${name}` : `a key in the ${place}, ${name}`;
  return type === 'mutualTLS' ? 'a client certificate' : `credentials of the scheme ${scheme ?? type}`;
}
