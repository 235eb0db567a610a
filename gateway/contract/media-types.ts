// Media types in contracts and in messages.

import { isRecord, type JsonObject, type LocatedValue, member, memberNames } from './pointer.ts';

/** Returns the type of a header field or of a key of `content`, in lower case and without parameters. */
export function essenceOf(mediaType: string | undefined): string {
  if (mediaType === undefined) return '';
  const semicolon = mediaType.indexOf(';');
  return (semicolon === -1 ? mediaType : mediaType.slice(0, semicolon)).trim().toLowerCase();
}

/** Parameters about the representation of the content, and not about its type. */
const REPRESENTATION = /^(?:charset|boundary|q)$/;

/** Returns one spelling of a type and of the parameters that tell it from others, such as `application/json;version=1`. */
export function mediaTypeOf(written: string): string {
  const essence = essenceOf(written);
  return written.includes(';') ? [essence, ...parametersOf(written)].join(';') : essence;
}

function parametersOf(written: string): string[] {
  const given = written.split(';').slice(1);
  return given
    .flatMap((parameter) => {
      const [name = '', ...value] = parameter.split('=');
      const key = name.trim().toLowerCase();
      return key === '' || REPRESENTATION.test(key)
        ? []
        : `${key}=${value
            .join('=')
            .trim()
            .replace(/^"(.*)"$/, '$1')}`;
    })
    .sort();
}

/** Returns the types and ranges that a `content` object declares, in one spelling, or an empty list. */
export function mediaTypesOf(content: unknown): string[] {
  return isRecord(content) ? Object.keys(content).map(mediaTypeOf) : [];
}

/** Returns the types of all successful answers of an operation, each once. */
export function successTypes(root: JsonObject, operation: LocatedValue): string[] {
  const responses = member(root, operation, 'responses');
  const statuses = memberNames(responses).filter((name) => name.startsWith('2'));
  const contents = statuses.map((status) => member(root, member(root, responses, status), 'content').value);
  return [...new Set(contents.flatMap(mediaTypesOf))];
}

/** Returns whether a type is JSON by name or suffix (RFC 6839 section 3.1). JSON text sequences are not. */
export function isJson(mediaType: string): boolean {
  const essence = mediaType.includes(';') ? essenceOf(mediaType) : mediaType;
  return essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json');
}

/** Returns every charset parameter, because readers differ in the one that they use. */
export function charsetsIn(contentType: string): string[] {
  return [...contentType.matchAll(/;\s*charset\s*=\s*"?([^"\s;]*)/gi)].map(([, charset = '']) => charset);
}

/** The media types of forms. */
export const URLENCODED = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';

/**
 * Returns the declared type that covers a given type: the type itself, or otherwise the narrowest range (OpenAPI 3.1.1, section 4.8.14). A
 * declared type with parameters covers a type that has all of them. If several types cover it, the type with the most parameters is
 * returned.
 */
export function declaredFor(contentType: string | undefined, declared: readonly string[]): string | undefined {
  const essence = essenceOf(contentType);
  if (essence === '') return undefined;
  const special = declared.filter((type) => type.startsWith(`${essence};`));
  if (special.length > 0) {
    const given = parametersOf(contentType as string);
    const fitting = special.filter((type) => parametersOf(type).every((parameter) => given.includes(parameter)));
    const [found] = fitting.sort((one, other) => parametersOf(other).length - parametersOf(one).length);
    if (found !== undefined) return found;
  }
  if (declared.includes(essence)) return essence;
  const range = `${essence.slice(0, essence.indexOf('/'))}/*`;
  return [range, '*/*'].find((candidate) => declared.includes(candidate));
}

/** Whether the content of a type is bytes of any kind, and not text, JSON, a form or a range of types. */
export function isOfBytes(mediaType: string): boolean {
  const essence = essenceOf(mediaType);
  const isText = /^text\/|^[^/]+\/(?:.*[+-])?(?:xml|yaml|jsonl?|ndjson|json-seq)$/.test(essence);
  return (
    !isText &&
    !isJson(mediaType) &&
    !essence.startsWith('multipart/') &&
    essence !== URLENCODED &&
    !essence.endsWith('*')
  );
}
