// Media types as contracts declare them and as messages carry them.

import { isObject } from './pointer.ts';

/** The type of a header field or of a key of `content`: lower case, without parameters. */
export function essenceOf(mediaType: string | undefined): string {
  if (mediaType === undefined) return '';
  const semicolon = mediaType.indexOf(';');
  return (semicolon === -1 ? mediaType : mediaType.slice(0, semicolon)).trim().toLowerCase();
}

/** The types and ranges that a `content` object declares; empty when there is none. */
export function mediaTypesOf(content: unknown): string[] {
  return isObject(content) ? Object.keys(content).map(essenceOf) : [];
}

/** JSON by its name or by its suffix (RFC 6839 section 3.1). Sequences of JSON texts are something else. */
export function isJson(essence: string): boolean {
  return essence === 'application/json' || essence === 'text/json' || essence.endsWith('+json');
}

/** The declared type that speaks for a given one: itself, else a range, the narrower first (OpenAPI 3.1.1, section 4.8.14). */
export function declaredFor(essence: string, declared: readonly string[]): string | undefined {
  if (essence === '') return undefined;
  if (declared.includes(essence)) return essence;
  const range = `${essence.slice(0, essence.indexOf('/'))}/*`;
  return [range, '*/*'].find((candidate) => declared.includes(candidate));
}
