// Answers as bytes, cut into pieces, and a reader's result for them.

import fc from 'fast-check';
import type { AnswerHead } from '../../../../gateway/http1/client/answer-head.ts';
import { AnswerReader } from '../../../../gateway/http1/client/answer-reader.ts';
import { WireFault } from '../../../../gateway/http1/client/wire.ts';

export interface Read {
  readonly head: (Omit<AnswerHead, 'headers'> & { readonly headers: Record<string, unknown> }) | undefined;
  readonly body: string;
  /** `waits` for more; `closed`: it was whole by the end of the connection. */
  readonly outcome: 'end' | 'waits' | 'closed' | WireFault['code'];
  readonly hasSurplus: boolean;
}

/** Reads one answer from these pieces, after which the connection ends. */
export function readAnswer(pieces: readonly Buffer[], method = 'GET', reader = new AnswerReader()): Read {
  const body: Buffer[] = [];
  let outcome: Read['outcome'] = 'waits';
  reader.begin(method);
  try {
    for (const piece of pieces) {
      reader.feed(Buffer.from(piece));
      if (outcome === 'waits' && readOn(reader, body)) outcome = 'end';
    }
    if (outcome === 'waits' && reader.close()) outcome = 'closed';
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    outcome = error.code;
  }
  const { head } = reader;
  return {
    head: head && { ...head, headers: { ...head.headers } },
    body: Buffer.concat(body).toString('latin1'),
    outcome,
    hasSurplus: reader.hasSurplus,
  };
}

/** Whether the answer has ended. Each step that takes no byte is the last one. */
function readOn(reader: AnswerReader, body: Buffer[]): boolean {
  for (let steps = 0; steps < 100_000; steps++) {
    const step = reader.next();
    if (step === 'data') {
      if (reader.chunk.length === 0) throw new Error('a piece of the body without a byte');
      body.push(reader.chunk);
    } else if (step !== 'head') return step === 'end';
  }
  throw new Error('it does not end');
}

export function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** @param cuts where, each as a part of its length from 0 to 1 */
export function cut(whole: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...cuts.map((part) => Math.round(part * whole.length)), whole.length].sort((a, b) => a - b);
  return at.map((end, i) => whole.subarray(at[i - 1] ?? 0, end));
}

export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

/** Every byte on its own. */
export function bytewise(whole: Buffer): Buffer[] {
  return Array.from(whole, (_, at) => whole.subarray(at, at + 1));
}

interface ValidAnswer {
  readonly text: string;
  readonly status: number;
  readonly body: string;
  readonly framing: 'counted' | 'chunked' | 'close';
}

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
const line = fc.stringMatching(/^[!-~\x80-\xff]([\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?$/);
const field = fc.tuple(token, fc.constantFrom('', ' ', '\t '), line, fc.constantFrom('', ' \t'));
const octets = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array).toString('latin1'));
const chunk = fc.record({
  data: octets(40).filter((data) => data !== ''),
  zeros: fc.constantFrom('', '0', '000'),
  isUpper: fc.boolean(),
  extension: fc.constantFrom('', ';a', ';a="b;\t\xe9\\""', ';a=1;b'),
});
const framed = fc.oneof(
  octets(120).map((body) => ({ framing: 'counted' as const, body, sent: body })),
  octets(120).map((body) => ({ framing: 'close' as const, body, sent: body })),
  fc.tuple(fc.array(chunk, { maxLength: 6 }), fc.array(field, { maxLength: 3 })).map(([chunks, trailers]) => ({
    framing: 'chunked' as const,
    body: chunks.map(({ data }) => data).join(''),
    sent: `${chunks.map(chunkText).join('')}0\r\n${trailers.map(fieldText).join('')}\r\n`,
  })),
);

/** Answers to GET that have a body, with interim ones before them. */
export const validAnswers: fc.Arbitrary<ValidAnswer> = fc
  .record({
    status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
    reason: fc.oneof(
      fc.constant(''),
      line.map((text) => ` ${text}`),
    ),
    fields: fc.array(field, { maxLength: 6 }).map((fields) => fields.filter(([name]) => !isFraming(name))),
    interim: fc.array(fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103\r\nlink: x\r\n\r\n'), {
      maxLength: 2,
    }),
    framed,
  })
  .map(({ status, reason, fields, interim, framed: { framing, body, sent } }) => {
    const own = { counted: `Content-Length:${body.length}\r\n`, chunked: 'transfer-encoding: CHUNKED\r\n', close: '' };
    const head = `HTTP/1.1 ${status}${reason}\r\n${fields.map(fieldText).join('')}${own[framing]}\r\n`;
    return { text: `${interim.join('')}${head}${sent}`, status, body, framing };
  });

function isFraming(name: string): boolean {
  return ['content-length', 'transfer-encoding'].includes(name.toLowerCase());
}

function fieldText([name, before, value, after]: readonly string[]): string {
  return `${name}:${before}${value}${after}\r\n`;
}

function chunkText({
  data,
  zeros,
  isUpper,
  extension,
}: Record<'data' | 'zeros' | 'extension', string> & { isUpper: boolean }): string {
  const size = data.length.toString(16);
  return `${zeros}${isUpper ? size.toUpperCase() : size}${extension}\r\n${data}\r\n`;
}
