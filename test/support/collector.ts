// A collector of traces: a real server that takes OTLP over HTTP in JSON, and holds every span against the form of the protocol.

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, string | boolean>>;
  readonly events: readonly string[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: number | undefined;
}

type Pairs = readonly { readonly key: string; readonly value: Readonly<Record<string, string | boolean>> }[];

export async function startCollector(answer: (response: ServerResponse) => void = (response) => response.end('{}')) {
  const spans: CollectedSpan[] = [];
  const resources: Record<string, string | boolean>[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      headers.push(request.headers);
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
      for (const { resource, scopeSpans } of resourceSpans) {
        resources.push(valuesOf(resource.attributes));
        for (const { spans: given } of scopeSpans) spans.push(...given.map(checked));
      }
      for (const check of waiting) check();
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans,
    resources,
    headers,
    /** Resolves when so many spans have come. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        const check = () => spans.length >= count && resolve();
        waiting.add(check);
        check();
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function valuesOf(pairs: Pairs): Record<string, string | boolean> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => {
      const [[kind, content] = []] = Object.entries(value);
      assert.ok(['stringValue', 'intValue', 'boolValue'].includes(kind ?? ''), kind);
      assert.equal(typeof content, kind === 'boolValue' ? 'boolean' : 'string', `${key} is a ${kind}`);
      return [key, content as string | boolean];
    }),
  );
}

function checked(span: Record<string, unknown>): CollectedSpan {
  const { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, ...rest } = span;
  const { attributes, events = [], links = [], status, ...others } = rest;
  assert.deepEqual(others, {}, 'members that the protocol does not know');
  assert.match(String(traceId), /^(?!0+$)[0-9a-f]{32}$/);
  assert.match(String(spanId), /^(?!0+$)[0-9a-f]{16}$/);
  if (parentSpanId !== undefined) assert.match(String(parentSpanId), /^[0-9a-f]{16}$/);
  for (const time of [startTimeUnixNano, endTimeUnixNano]) assert.match(String(time), /^1\d{18}$/);
  assert.ok(BigInt(String(endTimeUnixNano)) >= BigInt(String(startTimeUnixNano)));
  return {
    ...(span as unknown as CollectedSpan),
    attributes: valuesOf(attributes as Pairs),
    events: (events as { name: string }[]).map((event) => event.name),
    links: links as CollectedSpan['links'],
    status: (status as { code: number } | undefined)?.code,
  };
}
