// Media types in contracts and in messages.

import { isObject } from './pointer.ts';

/** Returns the type of a header field or of a key of `content`: lower case, without parameters. */
export function essenceOf(mediaType: string | undefined): string {
  if (mediaType === undefined) return '';
  const semicolon = mediaType.indexOf(';');
  return (semicolon === -1 ? mediaType : mediaType.slice(0, semicolon)).trim().toLowerCase();
}

/** Returns the types and ranges that a `content` object declares, or an empty list. */
export function mediaTypesOf(content: unknown): string[] {
  return isObject(content) ? Object.keys(content).map(essenceOf) : [];
}

/** Returns whether a type is JSON by name or suffix (RFC 6839 section 3.1). JSON text sequences are not. */
export function isJson(essence: string): boolean {
  return essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json');
}

/** The media types of forms. */
export const URLENCODED = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';

/** Returns the declared type that covers a given one: itself, else the narrowest range (OpenAPI 3.1.1, section 4.8.14). */
export function declaredFor(essence: string, declared: readonly string[]): string | undefined {
  if (essence === '') return undefined;
  if (declared.includes(essence)) return essence;
  const range = `${essence.slice(0, essence.indexOf('/'))}/*`;
  return [range, '*/*'].find((candidate) => declared.includes(candidate));
}
