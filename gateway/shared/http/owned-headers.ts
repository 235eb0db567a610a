// The header fields that the gateway itself sets or consumes. These do not cross the gateway, even if a contract or an entry names them.

const OWNED_REQUEST_HEADERS = new Set([
  ...['accept-encoding', 'authorization', 'cookie', 'host', 'content-length', 'forwarded', 'via'],
  ...['traceparent', 'tracestate', 'x-request-id'],
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'http2-settings'],
  ...['x-organization-id', 'x-api-key-id', 'x-gateway-assertion'],
]);
const OWNED_REQUEST_PREFIX = /^(x-forwarded-|proxy-|x-gateway-)/;

/** Whether only the gateway sends this field to upstreams. Some servers read `_` as `-`, so the field is recognized in any spelling. */
export function isOwnedRequestHeader(name: string): boolean {
  const spelled = name.replaceAll('_', '-');
  return OWNED_REQUEST_HEADERS.has(spelled) || OWNED_REQUEST_PREFIX.test(spelled);
}

/** Fields of the message, the client or the connection, which the gateway sends with the meaning that they have for every service. */
const MEANINGFUL_HEADER =
  /^(?:content-.*|accept.*|if-.*|sec-.*|access-control-.*|range|origin|date|user-agent|prefer|idempotency-key|last-event-id)$/;

/** Whether the gateway may send its credential for an upstream in this field. The name is in lower case. */
export function mayCarryCredential(name: string): boolean {
  return name === 'authorization' || !(isOwnedRequestHeader(name) || MEANINGFUL_HEADER.test(name.replaceAll('_', '-')));
}

/** The settings of a credential that name its header fields. */
interface CredentialFields {
  readonly kind: string;
  readonly header?: string;
  readonly names?: readonly string[];
}

/** Returns the header fields of a credential for an upstream, in lower case. They are the fields in the settings, if they name any. */
export function credentialFieldsOf({ header, names }: CredentialFields): readonly string[] {
  return names ?? [header ?? 'authorization'];
}

/** Whether a client could set one of these fields by sending this one, because some servers read `_` as `-`. Names are in lower case. */
export function isSpellingOf(name: string, fields: readonly string[] | undefined): boolean {
  return fields?.some((field) => name.replaceAll('_', '-') === field.replaceAll('_', '-')) === true;
}

/** Fields of one connection, and fields that the gateway writes on every answer. These are replaced, so no client misses them. */
export const REPLACED_ANSWER_HEADERS = [
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer', 'content-length', 'date'],
  // These fields name the software of the service. Clients do not need them.
  ...['server', 'x-powered-by'],
  ...['x-request-id', 'x-content-type-options', 'referrer-policy', 'strict-transport-security'],
] as const;

/** Fields that would speak for the gateway. */
export const RESERVED_ANSWER_HEADERS = [
  ...['www-authenticate', 'authentication-info', 'x-error-code', 'x-client-request-id', 'original-request-id', 'allow'],
  ...['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
  // The gateway's configuration decides which operations are deprecated.
  ...['deprecation', 'sunset'],
] as const;
/** The gateway alone decides about CORS. */
const OWNED_ANSWER_PREFIX = /^(x-internal-|proxy-|x-gateway-|access-control-)/;

const OWNED_ANSWER_HEADERS = new Set<string>([
  ...REPLACED_ANSWER_HEADERS,
  ...RESERVED_ANSWER_HEADERS,
  ...['set-cookie', 'cache-control'],
]);

/** Whether the gateway withholds or replaces this field of an upstream's answer, even if a contract or an entry declares it. */
export function isOwnedAnswerHeader(name: string): boolean {
  return OWNED_ANSWER_HEADERS.has(name) || OWNED_ANSWER_PREFIX.test(name);
}
