// Pure: reads the header section of one part of a multipart body (RFC 7578 section 4). Throws malformed_form.

import { isUtf8 } from 'node:buffer';
import { parseParameterizedField } from '../../shared/http/forms.ts';
import { malformedForm } from './malformed.ts';

export interface PartHead {
  /** Name of the form's field. */
  readonly name: string;
  /** The name of the file; undefined if the part is a field. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** The headers, by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

const LINES_MAX = 32;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/**
 * Finds a part that contains parts. Such a part is refused, because a service that reads the inner parts would find fields and file names
 * that were not checked. The pattern is loose, because such services are lenient. Nested parts are not needed, because each file is a part
 * of the form (RFC 7578 section 4.3).
 */
const NESTED = /multipart[^\w]*\//i;
/** Encodings that do not change the bytes (RFC 2045 section 6.2). */
const IDENTITIES = new Set(['7bit', '8bit', 'binary']);

/**
 * Parses the head of a part.
 *
 * @param block the header section without the empty line after it
 * @param offset the offset of the block in the body, for the refusal
 */
export function parsePartHead(block: Buffer, offset: number): PartHead {
  if (!isUtf8(block)) throw malformedForm('part_headers', offset);
  const headers = headersIn(block.toString('utf8'), offset);
  const disposition = parseParameterizedField(headers.get('content-disposition') ?? '');
  const name = disposition?.parameters.get('name');
  if (disposition?.value !== 'form-data' || name === undefined) throw malformedForm('disposition', offset);
  const filename = disposition.parameters.get('filename');
  if (filename !== undefined && leavesItsFolder(filename)) throw malformedForm('disposition', offset);
  const contentType = headers.get('content-type');
  if (contentType !== undefined && NESTED.test(contentType)) throw malformedForm('nested', offset);
  const encoding = headers.get('content-transfer-encoding');
  if (encoding !== undefined && !IDENTITIES.has(encoding.toLowerCase())) throw malformedForm('encoding', offset);
  return { name, filename, contentType, headers };
}

/**
 * Parses the headers. Lines end with CRLF. Folded lines, repeated names and control characters are refused, because readers differ on them.
 */
function headersIn(text: string, offset: number): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  const lines = text.split('\r\n', LINES_MAX + 1);
  if (lines.length > LINES_MAX) throw malformedForm('part_headers', offset);
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!NAME.test(name) || CONTROL.test(line) || headers.has(name)) throw malformedForm('part_headers', offset);
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

/**
 * Whether a file name leads out of a folder. A service that joins it to the path of a folder would write to another place (RFC 7578 section
 * 4.2).
 */
function leavesItsFolder(filename: string): boolean {
  return filename.startsWith('/') || filename.split('/').includes('..');
}
