// Compares the payload and the headers of a webhook. Clients receive it, so it may change as an answer may.

import { child, isRecord, type LocatedValue, member } from '../pointer.ts';
import { compareContent } from './content.ts';
import { type OperationPair, partOf } from './described.ts';
import { atTarget, below } from './findings.ts';

export function compareWebhook(both: OperationPair): void {
  const { old, new: fresh, tell, at } = both;
  if (!old.deprecated && fresh.deprecated) tell('webhook-deprecated', 'additive', at, 'the webhook is deprecated now');
  const [o, n] = [partOf(old, 'requestBody'), partOf(fresh, 'requestBody')];
  const place = atTarget(below(at, ['requestBody'], 'payload'), n);
  if (isRecord(o.value) && !isRecord(n.value)) tell('webhook-payload-removed', 'breaking', place, 'it was removed');
  else if (!isRecord(o.value) && isRecord(n.value)) tell('webhook-payload-added', 'additive', place, 'it is new');
  else compareContent(both, 'response', member(old.root, o, 'content'), member(fresh.root, n, 'content'), place);
  compareSentHeaders(both);
}

function compareSentHeaders({ old, new: fresh, comparer, tell, at }: OperationPair): void {
  const [before, after] = [headersOf(old.parameters), headersOf(fresh.parameters)];
  for (const [name, o] of before) {
    const n = after.get(name);
    const place = below(at, ['parameters'], `header ${name}`);
    if (n === undefined) tell('response-header-removed', 'breaking', place, 'it was removed');
    else comparer.compare('response', child(o, 'schema'), child(n, 'schema'), place, tell);
  }
  for (const name of after.keys())
    if (!before.has(name))
      tell('response-header-added', 'additive', below(at, ['parameters'], `header ${name}`), 'it is new');
}

/** Returns the header parameters that have a schema, by their lower-case names. */
function headersOf(parameters: readonly LocatedValue[]): Map<string, LocatedValue> {
  const headers = parameters.filter(({ value }) => isRecord(value) && value.in === 'header' && isRecord(value.schema));
  return new Map(headers.map((header) => [String((header.value as { name?: unknown }).name).toLowerCase(), header]));
}
