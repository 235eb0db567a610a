// Makes the request that samples show and a page sends, from the values of a form. This code runs in the gateway with example values, and
// in the reader's browser with typed values.

import { KEY_MARK, withoutMark } from '../highlight.ts';

/** The parameters and the body of an operation, with the values to send. */
export interface SampleForm {
  readonly method: string;
  /** The base URL of the path. */
  readonly server: string;
  /** A template: `/v1/jobs/{id}` */
  readonly path: string;
  /** `Idempotency-Key`, whose value is new for each request; undefined if the operation takes none. */
  readonly uniqueHeader: string | undefined;
  readonly credentials: SampleCredentials;
  readonly parameters: readonly SampleParameter[];
  readonly body: SampleContent | undefined;
  /** The media type of the body. */
  readonly bodyType: string | undefined;
  readonly response: SampleResponse;
}

/** The form of the response: whole, line by line while the connection is open, or as messages of a WebSocket. */
type SampleResponse = 'whole' | 'lines' | 'messages';

type SampleCredentials = 'key' | 'basic' | 'none';

export interface SampleParameter {
  readonly place: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  /** The style (OpenAPI 3.1 section 4.8.12.3), or `json` for a value that is JSON text. */
  readonly style: string;
  readonly explode: boolean;
  readonly value: unknown;
}

export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly uniqueHeader: string | undefined;
  readonly credentials: SampleCredentials;
  readonly body: SampleContent | undefined;
  readonly response: SampleResponse;
}

export type SampleContent =
  | { readonly kind: 'json'; readonly value: unknown }
  | FormBody
  | { readonly kind: 'file'; readonly type: string }
  | { readonly kind: 'text'; readonly text: string };

interface FormBody {
  readonly kind: 'form' | 'multipart';
  readonly fields: readonly FormField[];
}

/** A file comes from the reader, so its value does not matter. */
type FormField = readonly [name: string, value: string, kind?: 'file' | undefined];

/** Puts the values of a form where the contract wants them. */
export function toSampleRequest(form: SampleForm): SampleRequest {
  const { parameters, bodyType } = form;
  const headers = parameters
    .filter(({ place, name }) => place === 'header' && !/^(authorization|content-type|accept)$/i.test(name))
    .map(({ name, value }) => [name, fieldText(value)] as const);
  const cookies = parameters.filter(({ place }) => place === 'cookie');
  const cookie = cookies.map(({ name, value }) => `${name}=${encodeURIComponent(fieldText(value))}`).join('; ');
  const isSet = headers.some(([name]) => name.toLowerCase() === form.uniqueHeader?.toLowerCase());
  return {
    method: form.method,
    url: form.server + pathOf(form.path, parameters) + queryOf(parameters),
    headers: [
      ...headers,
      ...(cookie === '' ? [] : [['Cookie', cookie] as const]),
      ...(bodyType === undefined || bodyType.startsWith('multipart/') ? [] : [['Content-Type', bodyType] as const]),
    ],
    uniqueHeader: isSet ? undefined : form.uniqueHeader,
    credentials: form.credentials,
    body: form.body,
    response: form.response,
  };
}

/** Returns the Authorization header of a sample. */
export function authorizationOf({ credentials }: SampleRequest): string | undefined {
  return credentials === 'key' ? `Bearer ${KEY_MARK}` : undefined;
}

function pathOf(template: string, parameters: readonly SampleParameter[]): string {
  const values = new Map(parameters.filter(({ place }) => place === 'path').map((one) => [one.name, one.value]));
  const filled = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = values.get(name);
    if (Array.isArray(value)) return value.map((item) => encodeURIComponent(fieldText(item))).join(',');
    return encodeURIComponent(value === undefined || value === '' ? name : fieldText(value));
  });
  // Escape characters that are special in a shell or a template, because readers paste this.
  return filled.replace(
    /[^A-Za-z0-9\-._~/%:@,;=+&*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function queryOf(parameters: readonly SampleParameter[]): string {
  const parts = parameters.filter(({ place }) => place === 'query').flatMap(queryPartsOf);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** Serializes one value in its style (OpenAPI 3.1 section 4.8.12.3). */
function queryPartsOf({ name, value, style, explode }: SampleParameter): string[] {
  const key = encodeURIComponent(name);
  const pair = (label: string, one: unknown) => `${label}=${encodeURIComponent(fieldText(one))}`;
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => pair(key, item));
    const separator = { spaceDelimited: '%20', pipeDelimited: '%7C' }[style] ?? ',';
    return [`${key}=${value.map((item) => encodeURIComponent(fieldText(item))).join(separator)}`];
  }
  if (typeof value !== 'object' || value === null) return [pair(key, value)];
  const members = Object.entries(value);
  if (style === 'deepObject') return members.map(([member, one]) => pair(`${key}[${encodeURIComponent(member)}]`, one));
  if (explode) return members.map(([member, one]) => pair(encodeURIComponent(member), one));
  return [
    `${key}=${members
      .flat()
      .map((part) => encodeURIComponent(fieldText(part)))
      .join(',')}`,
  ];
}

/** Returns a value as the text of a path, header or form field, without control characters. */
export function fieldText(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : (JSON.stringify(value) ?? '');
  return withoutMark(text)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
}

/** Returns a media type to send for a declared one, which may be a range: JSON for a value that is not a text, otherwise bytes. */
export function sentTypeOf(type: string, value: unknown): string {
  const [range = ''] = type.split(';');
  if (/^image\/\*$/i.test(range)) return 'image/png';
  if (!/^(\*|application)\/\*$/.test(range)) return type;
  return typeof value === 'object' && value !== null ? 'application/json' : 'application/octet-stream';
}

/**
 * Returns the kind of a body by its media type. A value that does not fit the type is a file of the reader.
 *
 * @param files the fields of a form that are files
 */
export function sampleContentOf(type: string, value: unknown, files: readonly string[] = []): SampleContent {
  const plain = (type.split(';')[0] as string).trim().toLowerCase();
  const isText = typeof value === 'string';
  if (/^application\/json$|[+]json$/.test(plain)) return { kind: 'json', value: value ?? {} };
  if (plain === 'application/x-www-form-urlencoded') return { kind: 'form', fields: fieldsOf(value) };
  if (plain.startsWith('multipart/')) {
    const fields = fieldsOf(value).map(
      ([name, text]): FormField => [name, text, files.includes(name) ? 'file' : undefined],
    );
    return { kind: 'multipart', fields };
  }
  if (isText && /^text\/|[/+](xml|yaml|csv|graphql)$/.test(plain)) return { kind: 'text', text: value };
  if (isRecord(value) && /json/.test(plain)) return { kind: 'json', value };
  return { kind: 'file', type };
}

function fieldsOf(value: unknown): [string, string][] {
  return isRecord(value) ? Object.entries(value).map(([name, member]) => [name, fieldText(member)]) : [];
}

/** shared/is-record.ts cannot be imported here, because the browser gets only the modules that portal/assets.ts lists. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
