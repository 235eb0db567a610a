// Makes the result of a tool from the answer of its operation. The result is JSON, which is also included as text, or text, or the error
// object. A list that is too long is cut after a whole record. Throws tool_answer_too_large, tool_answer_unreadable.

import { GatewayError } from '../catalogue/errors.ts';
import { isRecord } from '../shared/is-record.ts';
import type { CollectedAnswer, CollectedHead } from './collected-answer.ts';
import type { Tool } from './tool.ts';

export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
  readonly _meta: Readonly<Record<string, unknown>>;
}

/** The maximum number of bytes of an answer that are read before it is cut. It equals the number that the gateway buffers of any answer. */
export const COLLECTED_BYTES_MAX = 8_388_608;

const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]+\+)?json$/;
const TEXT_TYPE = /^text\/(?!event-stream$)|^application\/(?:[\w.+-]+\+)?(?:xml|yaml|x-www-form-urlencoded)$/;

/** Whether the body of an answer is JSON or text. An answer without a type has no body. */
export function isReadable({ headers }: CollectedHead): boolean {
  const type = essenceOf(headers.get('content-type'));
  return type === '' || JSON_TYPE.test(type) || TEXT_TYPE.test(type);
}

function essenceOf(type = ''): string {
  return (type.split(';', 1)[0] as string).trim().toLowerCase();
}

/** Returns the result of a call whose exchange has ended; undefined if the client has left, or if the connection was cut. */
export function toResult(
  answer: CollectedAnswer,
  tool: Tool,
  { answerBytesMax, requestId }: { readonly answerBytesMax: number; readonly requestId: string },
): ToolResult | undefined {
  const { head, uncollected } = answer;
  if (head === undefined || uncollected === 'gone') return undefined;
  const type = essenceOf(head.headers.get('content-type'));
  const told = { upstream_status: head.status };
  if (uncollected === 'unreadable' || !isReadable(head))
    throw new GatewayError('tool_answer_unreadable', { fields: { ...told, media_type: type.slice(0, 128) } });
  if (uncollected === 'too_large') throw tooLarge(tool, answerBytesMax, head.status);
  const _meta = metaOf(head, requestId);
  const { body } = answer;
  const isError = head.status >= 400 ? ({ isError: true } as const) : {};
  if (body.length === 0)
    return { content: [textOf(`Done, with status ${head.status}.`)], structuredContent: {}, ...isError, _meta };
  const value = JSON_TYPE.test(type) ? parseJson(body) : undefined;
  if (value === undefined) return { ...plainText(body, answerBytesMax, tool, head.status), ...isError, _meta };
  // An error object is short, and it is not cut.
  if (body.length <= answerBytesMax || head.status >= 400)
    return { content: [textOf(JSON.stringify(value))], structuredContent: objectOf(value), ...isError, _meta };
  const cut = cutRecords(value, answerBytesMax);
  if (cut === undefined) throw tooLarge(tool, answerBytesMax, head.status);
  const hint = hintOf(tool, cut.shown, cut.total);
  return {
    content: [textOf(JSON.stringify(cut.value)), textOf(hint)],
    structuredContent: objectOf(cut.value),
    _meta: { ..._meta, 'gateway/cut': { shown: cut.shown, total: cut.total, hint } },
  };
}

function metaOf({ headers, status }: CollectedHead, requestId: string): Record<string, unknown> {
  const isReplayed = headers.get('idempotent-replayed') === 'true';
  return { 'gateway/request_id': requestId, 'gateway/status': status, ...(isReplayed && { 'gateway/replayed': true }) };
}

function textOf(text: string): ToolResult['content'][number] {
  return { type: 'text', text };
}

/** Returns the parsed body; undefined if it is not JSON, although the service says so. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the value as an object. Structured content must be an object, so the tool's schema wraps other values in a member, too. */
function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : { result: value };
}

function plainText(body: Buffer, max: number, tool: Tool, status: number): Pick<ToolResult, 'content'> {
  if (body.length > max) throw tooLarge(tool, max, status);
  return { content: [textOf(body.toString('utf8'))] };
}

function tooLarge({ source }: Tool, max: number, status: number): GatewayError {
  const { limit } = source.paging;
  const fields = { max_bytes: max, upstream_status: status };
  return limit === undefined
    ? new GatewayError('tool_answer_too_large', { fields })
    : new GatewayError('tool_answer_too_large', { fields: { ...fields, limit_argument: limit }, hint: 'limit' });
}

/** Returns the hint after a cut. The cursor of the answer would skip the records that were left out, so the model must not use it. */
function hintOf({ source: { paging } }: Tool, shown: number, total: number): string {
  const first = `Only the first ${shown} of ${total} records are shown, because the answer was too long.`;
  if (paging.limit === undefined) return `${first} Ask for less, if the operation can.`;
  const next = paging.cursor === undefined ? '' : ` and go on with ${paging.cursor}`;
  return `${first} Call again with ${paging.limit}: ${shown}${next}. A cursor of this answer leads past the records that are missing.`;
}

interface CutValue {
  readonly value: unknown;
  readonly shown: number;
  readonly total: number;
}

/**
 * Removes whole records until the JSON has at most `bytesMax` bytes. Returns undefined if the value has no list, or if a single record is
 * too long.
 */
export function cutRecords(value: unknown, bytesMax: number): CutValue | undefined {
  const list = longestListOf(value);
  if (list === undefined) return undefined;
  const { records, put } = list;
  const frame = Buffer.byteLength(JSON.stringify(put([])));
  let bytes = frame;
  let shown = 0;
  for (const record of records) {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    if (bytes > bytesMax) break;
    shown += 1;
  }
  if (shown === 0) return undefined;
  return { value: put(records.slice(0, shown)), shown, total: records.length };
}

interface FoundList {
  readonly records: readonly unknown[];
  /** Returns the value with other records. */
  put(records: readonly unknown[]): unknown;
}

/** Returns the list: the value itself, or the member that takes the most bytes. */
function longestListOf(value: unknown): FoundList | undefined {
  if (Array.isArray(value)) return { records: value, put: (records) => records };
  if (!isRecord(value)) return undefined;
  const lists = Object.entries(value).flatMap(([name, member]) =>
    Array.isArray(member) ? [{ name, records: member, bytes: JSON.stringify(member).length }] : [],
  );
  const [longest] = lists.sort((one, other) => other.bytes - one.bytes);
  if (longest === undefined) return undefined;
  const { name, records } = longest;
  const members = Object.entries(value);
  return {
    records,
    put: (kept) => Object.fromEntries(members.map(([key, member]) => [key, key === name ? kept : member])),
  };
}
