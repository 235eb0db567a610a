// Whether a client takes what an operation answers with. Throws not_acceptable.

import { GatewayError } from '../errors.ts';
import { essenceOf, isJson } from './media-types.ts';

/**
 * 406 only when Accept rules out everything there is. Of the ranges that speak for a type the most precise one decides (RFC 9110
 * section 12.5.1); any JSON type stands for all of them, as clients name vendors' types of which the contract knows none.
 */
export function checkAccept(accept: string | undefined, answers: readonly string[]): void {
  if (accept === undefined || accept === '*/*' || answers.length === 0 || answers.includes(accept)) return;
  const ranges = accept.split(',').flatMap((written) => {
    const range = essenceOf(written);
    return range === '' ? [] : [{ range, weight: weightOf(written) }];
  });
  if (ranges.length === 0 || answers.some((type) => weightFor(type, ranges) > 0)) return;
  throw new GatewayError('not_acceptable', { fields: { available_media_types: answers } });
}

interface Range {
  readonly range: string;
  readonly weight: number;
}

function weightFor(type: string, ranges: readonly Range[]): number {
  const candidates = [type, ...(isJson(type) ? ['+json'] : []), `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  // What is answered is open: any range that meets it may be what comes.
  if (type.endsWith('*'))
    return Math.max(0, ...ranges.flatMap(({ range, weight }) => (meet(type, range) ? weight : [])));
  for (const candidate of candidates) {
    const found = ranges.find(({ range }) => (candidate === '+json' ? isJson(range) : range === candidate));
    if (found) return found.weight;
  }
  return 0;
}

/** Whether some media type is in both ranges. */
function meet(one: string, other: string): boolean {
  if (one === '*/*' || other === '*/*') return true;
  return one.slice(0, one.indexOf('/')) === other.slice(0, other.indexOf('/'));
}

function weightOf(written: string): number {
  const weight = /;\s*q\s*=\s*([\d.]+)/i.exec(written)?.[1];
  return weight === undefined ? 1 : Number(weight);
}
