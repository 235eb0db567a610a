// Pure: the bytes that a Range header requests (RFC 9110, section 14). Only one range of bytes is understood; anything else is ignored, as
// the RFC allows.

/** First and last byte, both included; `none`: no byte of the file is in it. */
export type ByteRange = { readonly first: number; readonly last: number } | 'none';

/** Undefined: the whole file. */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '')
    return Number(to) === 0 || size === 0 ? 'none' : { first: Math.max(0, size - Number(to)), last: size - 1 };
  const first = Number(from);
  if (to !== '' && Number(to) < first) return undefined;
  return first >= size ? 'none' : { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
