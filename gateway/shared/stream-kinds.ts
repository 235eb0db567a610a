// Media types whose answers are streams: a sequence of items; a client wants each one when it arrives.

type KindOfAnswer = 'events' | 'lines';

const kinds: ReadonlyMap<string, KindOfAnswer> = new Map([
  ['text/event-stream', 'events'],
  ['application/x-ndjson', 'lines'],
  ['application/ndjson', 'lines'],
  ['application/jsonl', 'lines'],
  ['application/x-jsonlines', 'lines'],
  ['application/json-seq', 'lines'],
]);

/** The kind of stream of a Content-Type; undefined for all other answers. One comparison for most of them. */
export function streamKindOf(contentType: string | undefined): KindOfAnswer | undefined {
  if (contentType === undefined || contentType === 'application/json') return undefined;
  const semicolon = contentType.indexOf(';');
  return kinds.get((semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase());
}
