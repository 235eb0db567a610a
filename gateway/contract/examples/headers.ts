// Makes header fields that a contract declares for an answer: the required fields, and fields that clients need for the next request.

import { isFieldText } from '../../shared/http/words.ts';
import { child, isRecord, type LocatedValue, member, memberNames } from '../pointer.ts';
import { samplesOf } from '../samples/sample.ts';
import type { DeclaredAnswer } from './declared.ts';

/** Headers that are made even if the contract does not require them, because the next request of a client depends on them. */
const USEFUL_HEADERS = new Set(['location', 'etag', 'last-modified']);

interface HeaderContext {
  readonly answer: DeclaredAnswer;
  /** The path of the request, without query. */
  readonly path: string;
  /** The value of the body. */
  readonly value: unknown;
}

/** Returns the fields by name in lower case. The value is undefined if no value for a required field can be made. */
export function headersFor(context: HeaderContext): Record<string, string | undefined> {
  const { entry, response } = context.answer;
  const { root } = entry.document;
  const declared = member(root, response, 'headers');
  const made = memberNames(declared).flatMap((written) => {
    const header = member(root, declared, written);
    const name = written.toLowerCase();
    const isRequired = isRecord(header.value) && header.value.required === true;
    if (name === 'content-type' || !(isRequired || USEFUL_HEADERS.has(name))) return [];
    const text = textOf(name, header, context);
    return text === undefined && !isRequired ? [] : [[name, text] as const];
  });
  return Object.fromEntries(made);
}

function textOf(name: string, header: LocatedValue, context: HeaderContext): string | undefined {
  const written = writtenText(header, context);
  if (name === 'location') return locationOf(written, context);
  if (written !== undefined) return written;
  if (name === 'etag') return '"example"';
  if (name === 'last-modified') return 'Thu, 15 Jan 2026 10:30:00 GMT';
  const [made] = samplesOf(context.answer.entry.document.root, child(header, 'schema'), { of: 'answer' });
  return printValue(made);
}

/** Returns an example of the header or of its schema. */
function writtenText(header: LocatedValue, { answer: { entry } }: HeaderContext): string | undefined {
  const { root } = entry.document;
  const { example } = header.value as { example?: unknown };
  const examples = member(root, header, 'examples');
  const [first] = memberNames(examples);
  const named = first === undefined ? undefined : member(root, member(root, examples, first), 'value').value;
  const schema = member(root, header, 'schema').value;
  return printValue(
    example ?? named ?? (isRecord(schema) ? (schema.example ?? schema.const ?? schema.default) : undefined),
  );
}

/** Prints a value in style `simple` (OpenAPI 3.1.1, section 4.8.21). */
function printValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = Array.isArray(value)
    ? value.join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
  return isFieldText(text) ? text : undefined;
}

/**
 * Returns the path of the example below the prefix of the document's server, otherwise the path of the record below the path of the
 * request.
 */
function locationOf(written: string | undefined, { answer, path, value }: HeaderContext): string {
  const { upstreamPrefix, method } = answer.entry.operation;
  if (written !== undefined && URL.canParse(written, 'http://any')) {
    const { pathname, search } = new URL(written, 'http://any');
    if (pathname.startsWith(`${upstreamPrefix}/`)) return pathname + search;
  }
  if (method !== 'POST') return path;
  return `${path.replace(/\/$/, '')}/${encodeURIComponent(identifierIn(value) ?? 'example')}`;
}

function identifierIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const id = value.id ?? value.name;
  if (typeof id === 'string' || typeof id === 'number') return String(id);
  return isRecord(value.data) ? identifierIn(value.data) : undefined;
}
