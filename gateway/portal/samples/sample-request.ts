// The request that samples show and that "Try it" begins with: the values of examples, in the places where the contract wants them.

import { KEY_MARK, withoutMark } from '../highlight.ts';
import type { BodyView } from '../reference/body-view.ts';
import type { OperationView, ParameterView } from '../reference/operation-view.ts';
import { isDocumentObject, type ReferredOperation } from '../reference/reference.ts';

export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** A header whose value is new for each request, if the operation takes one: `Idempotency-Key`. */
  readonly uniqueHeader: string | undefined;
  readonly credentials: 'key' | 'basic' | 'none';
  readonly body: SampleContent | undefined;
}

export type SampleContent =
  | { readonly kind: 'json'; readonly value: unknown }
  | FormBody
  | { readonly kind: 'file'; readonly type: string }
  | { readonly kind: 'text'; readonly text: string };

interface FormBody {
  readonly kind: 'form' | 'multipart';
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Returns a request with every required parameter. Optional parameters are left out. */
export function sampleRequestOf(operation: ReferredOperation, view: OperationView, server: string): SampleRequest {
  const alternative = alternativeOf(operation);
  const credentials = alternative === undefined ? 'none' : alternative.scheme === 'basic' ? 'basic' : 'key';
  const uniqueHeader = operation.idempotency === 'off' ? undefined : 'Idempotency-Key';
  const required = view.parameters.filter(({ isRequired }) => isRequired);
  const headers = required
    .filter(({ place, name }) => place === 'header' && !/^(authorization|content-type|accept)$/i.test(name))
    .filter(({ name }) => uniqueHeader === undefined || name.toLowerCase() !== uniqueHeader.toLowerCase())
    .map(({ name, example }) => [name, fieldText(example)] as const);
  const cookies = required.filter(({ place }) => place === 'cookie');
  const cookie = cookies.map(({ name, example }) => `${name}=${encodeURIComponent(fieldText(example))}`).join('; ');
  const media = view.body?.media[0];
  return {
    method: operation.method,
    url: server + pathOf(operation.path, required) + queryOf(required),
    headers: [
      ...headers,
      ...(cookie === '' ? [] : [['Cookie', cookie] as const]),
      ...(media === undefined || media.type.startsWith('multipart/') ? [] : [['Content-Type', media.type] as const]),
    ],
    uniqueHeader,
    credentials,
    body: view.body && bodyOf(view.body),
  };
}

/** Without test data a test key is refused: another kind of credentials is shown where there is one. */
function alternativeOf({ security, hasTestMode }: ReferredOperation) {
  const basic = security.find(({ scheme }) => scheme === 'basic');
  return hasTestMode ? security[0] : (basic ?? security[0]);
}

/** What goes into the Authorization header of a sample. */
export function authorizationOf({ credentials }: SampleRequest): string | undefined {
  return credentials === 'key' ? `Bearer ${KEY_MARK}` : undefined;
}

function pathOf(template: string, parameters: readonly ParameterView[]): string {
  const values = new Map(parameters.filter(({ place }) => place === 'path').map((one) => [one.name, one.example]));
  const filled = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = values.get(name);
    return value === undefined ? encodeURIComponent(name) : encodeURIComponent(fieldText(value));
  });
  // What a shell or a template would read as its own is escaped: readers paste this.
  return filled.replace(
    /[^A-Za-z0-9\-._~/%:@,;=+&*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function queryOf(parameters: readonly ParameterView[]): string {
  const parts = parameters.filter(({ place }) => place === 'query').flatMap(queryPartsOf);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** Serializes one value as its style says (OpenAPI 3.1 section 4.8.12.3). */
function queryPartsOf({ name, example, style, explode }: ParameterView): string[] {
  const key = encodeURIComponent(name);
  const pair = (label: string, value: unknown) => `${label}=${encodeURIComponent(fieldText(value))}`;
  if (style === 'json') return [pair(key, JSON.stringify(example))];
  if (Array.isArray(example)) {
    if (explode) return example.map((item) => pair(key, item));
    const separator = { spaceDelimited: '%20', pipeDelimited: '%7C' }[style] ?? ',';
    return [`${key}=${example.map((item) => encodeURIComponent(fieldText(item))).join(separator)}`];
  }
  if (!isDocumentObject(example)) return [pair(key, example)];
  const members = Object.entries(example);
  if (style === 'deepObject')
    return members.map(([member, value]) => pair(`${key}[${encodeURIComponent(member)}]`, value));
  if (explode) return members.map(([member, value]) => pair(encodeURIComponent(member), value));
  return [
    `${key}=${members
      .flat()
      .map((part) => encodeURIComponent(fieldText(part)))
      .join(',')}`,
  ];
}

/** A value as the text of a path, header or form field. Controls are taken out. */
export function fieldText(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : (JSON.stringify(value) ?? '');
  return withoutMark(text)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
}

function bodyOf({ media }: BodyView): SampleContent | undefined {
  const [first] = media;
  if (first === undefined) return undefined;
  const value = first.examples[0]?.value;
  const type = (first.type.split(';')[0] as string).trim().toLowerCase();
  if (/^application\/json$|[+]json$|^\*\/\*$|^application\/\*$/.test(type)) return { kind: 'json', value: value ?? {} };
  if (type === 'application/x-www-form-urlencoded') return { kind: 'form', fields: fieldsOf(value) };
  if (type.startsWith('multipart/')) return { kind: 'multipart', fields: fieldsOf(value) };
  if (typeof value === 'string' && /^text\/|[/+](xml|yaml|csv|graphql)$/.test(type))
    return { kind: 'text', text: value };
  if (isDocumentObject(value) && /json/.test(type)) return { kind: 'json', value };
  return { kind: 'file', type: first.type };
}

function fieldsOf(value: unknown): [string, string][] {
  return isDocumentObject(value) ? Object.entries(value).map(([name, member]) => [name, fieldText(member)]) : [];
}
