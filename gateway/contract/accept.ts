// Checks the Accept header against the media types of an operation's answers. Throws not_acceptable.

import { GatewayError } from '../catalogue/errors.ts';
import { essenceOf, isJson } from './media-types.ts';

/**
 * Throws 406 only if Accept rules out every declared type. The most precise range that matches a type decides (RFC 9110 section 12.5.1).
 * Any JSON type matches any other JSON type, because clients send vendor JSON types that the contract does not list.
 */
export function checkAccept(accept: string | undefined, answers: readonly string[]): void {
  if (accept === undefined || accept === '*/*' || answers.length === 0 || answers.includes(accept)) return;
  const ranges = rangesIn(accept);
  if (ranges.length === 0 || answers.some((type) => weightFor(essenceOf(type), ranges) > 0)) return;
  throw new GatewayError('not_acceptable', { fields: { available_media_types: answers } });
}

/** Returns the type that Accept prefers, and the first of equally preferred types; undefined if no type is acceptable. */
export function preferredType(accept: string | undefined, answers: readonly string[]): string | undefined {
  const ranges = rangesIn(accept ?? '*/*');
  const weights = answers.map((type) => weightFor(essenceOf(type), ranges));
  return answers[weights.indexOf(Math.max(...weights))];
}

interface Range {
  readonly range: string;
  readonly weight: number;
}

function rangesIn(accept: string): Range[] {
  return accept.split(',').flatMap((written) => {
    const range = essenceOf(written);
    return range === '' ? [] : [{ range, weight: weightOf(written) }];
  });
}

function weightFor(type: string, ranges: readonly Range[]): number {
  const candidates = [type, ...(isJson(type) ? ['+json'] : []), `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  // If the declared type is a range, every Accept range that overlaps it may match the actual answer.
  if (type.endsWith('*'))
    return Math.max(0, ...ranges.flatMap(({ range, weight }) => (meet(type, range) ? weight : [])));
  for (const candidate of candidates) {
    const found = ranges.find(({ range }) => (candidate === '+json' ? isJson(range) : range === candidate));
    if (found) return found.weight;
  }
  return 0;
}

/** Returns whether the two ranges have a media type in common. */
function meet(one: string, other: string): boolean {
  if (one === '*/*' || other === '*/*') return true;
  return one.slice(0, one.indexOf('/')) === other.slice(0, other.indexOf('/'));
}

function weightOf(written: string): number {
  const weight = /;\s*q\s*=\s*([\d.]+)/i.exec(written)?.[1];
  return weight === undefined ? 1 : Number(weight);
}
