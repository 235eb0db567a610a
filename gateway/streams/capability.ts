// The capability `streams`: the error code of answers that stay open, and what the log and `gateway explain` say about them.

import { type Capability, type FactsOf, rarelyNoted } from '../catalogue/capability.ts';
import { RATE_LIMITED } from '../catalogue/catalogue-entry.ts';
import type { StreamEnd, StreamKind } from '../exchange/findings.ts';

const CODES = {
  too_many_streams: {
    ...RATE_LIMITED,
    status: 429,
    message: 'Your organization has as many open streams as it may have. Close one of them first.',
    meaning:
      'The organization has `open_streams_max` event streams, JSON lines and WebSockets open, and may open no more.',
    remedy:
      'Close streams that are not read any more. Share one stream within your application instead of opening several.',
    example: { open_streams_max: 100 },
  },
} as const;

const FIELDS = {
  stream: {
    section: 'kind',
    stage: 'forward',
    type: '`events`, `lines`, `websocket`',
    forClients: true,
    notes: { stream: rarelyNoted<StreamKind>() },
    meaning: 'the kind of an answer that stays open: an event stream, lines of JSON, a WebSocket',
  },
  stream_end: {
    section: 'kind',
    stage: 'forward',
    type: '`drain`, `reload`, `credential`, `contract`, `too_long`',
    forClients: true,
    notes: { streamEnd: rarelyNoted<StreamEnd>() },
    meaning:
      'why the gateway ended the stream: its process ended, the operation was gone, the key, token or organization was no longer valid, an item violated the contract, or it took longer than `maxStreamMs`; absent if the client or the target ended it',
  },
} as const;

const STREAM_KINDS: Readonly<Record<string, string>> = {
  events: 'an event stream',
  lines: 'a stream of JSON lines',
  websocket: 'a WebSocket',
} satisfies Readonly<Record<StreamKind, string>>;

const STREAM_ENDS: Readonly<Record<string, string>> = {
  drain: 'the gateway ended it, because its process ended',
  reload: 'the gateway ended it, because the operation was gone after a reload',
  credential: 'the gateway ended it, because the key, token or organization was no longer valid',
  contract: 'the gateway ended it, because an item violated the contract',
  too_long: 'the gateway ended it after maxStreamMs',
} satisfies Readonly<Record<StreamEnd, string>>;

const FACTS: FactsOf<typeof FIELDS, 'open_streams_max'> = {
  // It is about a rehearsed request.
  open_streams_max: {
    forward: (most) => `it may stay open; the organization may have ${most} open streams in each process`,
  },
  stream: { forward: (kind) => `it was ${STREAM_KINDS[String(kind)]}` },
  stream_end: { forward: (end) => STREAM_ENDS[String(end)] },
};

export const STREAMS = { codes: CODES, fields: FIELDS, facts: FACTS } as const satisfies Capability;
