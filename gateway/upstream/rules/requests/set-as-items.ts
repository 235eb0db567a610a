// Turns the `set` of a list into `addItem` and `removeItem` changes with the same result, for upstreams whose `set` changes other fields,
// too. Throws upstream_bad_response, validation_failed. Pure.

import { GatewayError } from '../../../catalogue/errors.ts';
import { upstreamFailure } from '../../../catalogue/upstream-failure.ts';
import {
  type JsonNode,
  type JsonScalar,
  type JsonTreeObject,
  printJsonTree,
  readJson,
  scalarOf,
} from '../../../shared/json-tree.ts';
import { memberPath, nodeAt } from '../members.ts';

export interface SetAsItemsRule {
  /** The lists whose `set` is sent as items. */
  readonly fields: readonly string[];
  /** Id of the operation that reads the record: a GET of the same path. */
  readonly read: string;
  /** The dotted name of the member of its answer that contains the fields; undefined if the answer itself contains them. */
  readonly from?: string | undefined;
}

/** The entries of one list, as they are written. The keys are their lower-case forms, because the upstream ignores case. */
type Entries = Map<string, JsonScalar>;

/** Whether the body is a list of changes with a `set` of one of these fields. */
export function hasSet(body: JsonNode, fields: readonly string[]): boolean {
  return body.kind === 'array' && body.items.some((item) => isSet(item, fields));
}

/**
 * Replaces each `set` of these fields by `removeItem` and `addItem` changes in its place, and returns the changes as bytes. The items are
 * the difference to the list as the earlier changes leave it. Other changes stay unchanged. A removed item is written as the upstream
 * spells it.
 *
 * @param changes a list of objects `{ action, field, value }`
 * @param answer the record as the upstream has it now, JSON
 */
export function withItems(changes: JsonNode, { fields, from }: SetAsItemsRule, answer: Buffer): Buffer {
  if (changes.kind !== 'array') return Buffer.from(printJsonTree(changes));
  const root = readJson(answer);
  const record = from === undefined ? root : nodeAt(root, memberPath(from));
  if (record?.kind !== 'object') throw unreadable();
  const present = new Map(fields.map((field) => [field, entriesOf(record, field)]));
  const items = changes.items.flatMap((change, index) => playChange(change, index, fields, present));
  return Buffer.from(printJsonTree({ kind: 'array', items }));
}

/** Returns the changes that replace one change. Applies them to `present`, as the upstream will. */
function playChange(
  change: JsonNode,
  index: number,
  fields: readonly string[],
  present: Map<string, Entries>,
): JsonNode[] {
  const field = textAt(change, 'field');
  const entries = field === undefined ? undefined : present.get(field);
  if (field === undefined || entries === undefined) return [change];
  if (isSet(change, fields)) {
    const wanted = wantedBy(change, index);
    const removed = [...entries].filter(([name]) => !wanted.has(name)).map(([, entry]) => entry);
    const added = [...wanted].filter(([name]) => !entries.has(name)).map(([, entry]) => entry);
    // An entry that stays keeps the spelling of the upstream, because a later change can remove it only by that spelling.
    present.set(field, new Map([...wanted].map(([name, entry]) => [name, entries.get(name) ?? entry])));
    return [...removed.map(changeOf('removeItem', field)), ...added.map(changeOf('addItem', field))];
  }
  const value = nodeAt(change, ['value']);
  if (value?.kind !== 'scalar' || typeof value.value !== 'string') return [change];
  const name = value.value.toLowerCase();
  const action = textAt(change, 'action');
  const found = entries.get(name);
  if (action === 'addItem' && found === undefined) entries.set(name, value);
  if (action !== 'removeItem' || found === undefined) return [change];
  entries.delete(name);
  return textAt(change, 'value') === found.value ? [change] : [changeOf('removeItem', field)(found)];
}

function isSet(change: JsonNode, fields: readonly string[]): boolean {
  return textAt(change, 'action') === 'set' && fields.includes(textAt(change, 'field') ?? '');
}

function textAt(node: JsonNode, name: string): string | undefined {
  const found = nodeAt(node, [name]);
  return found?.kind === 'scalar' && typeof found.value === 'string' ? found.value : undefined;
}

function entriesOf(record: JsonTreeObject, field: string): Entries {
  const list = nodeAt(record, [field]);
  const entries = list === undefined ? new Map() : entriesIn(list);
  if (entries === undefined) throw unreadable();
  return entries;
}

/** Reads a list of entries. If entries differ only in case, the first one is used. Returns undefined if the node is not a list of texts. */
function entriesIn(list: JsonNode): Entries | undefined {
  if (list.kind !== 'array') return undefined;
  const entries: Entries = new Map();
  for (const item of list.items) {
    if (item.kind !== 'scalar' || typeof item.value !== 'string') return undefined;
    const name = item.value.toLowerCase();
    if (!entries.has(name)) entries.set(name, item);
  }
  return entries;
}

function wantedBy(change: JsonNode, index: number): Entries {
  const list = nodeAt(change, ['value']);
  const wanted = list && entriesIn(list);
  if (wanted !== undefined) return wanted;
  const param = `[${index}].value`;
  const violation = { in: 'body', param, pointer: `/${index}/value`, code: 'wrong_type' };
  const errors = [{ ...violation, message: 'Must be a list of texts.' }];
  throw new GatewayError('validation_failed', { fields: { param, errors } });
}

function changeOf(action: 'addItem' | 'removeItem', field: string): (value: JsonNode) => JsonNode {
  return (value) => ({
    kind: 'object',
    members: [
      ['action', scalarOf(action)],
      ['field', scalarOf(field)],
      ['value', value],
    ],
  });
}

/** Returns the refusal for a record that does not have the form that the rule declares, so that the result of a `set` is unknown. */
function unreadable(): GatewayError {
  const cause = new Error('the record that a rule for requests reads has no lists of texts at the declared place');
  return upstreamFailure('upstream_bad_response', 'http_protocol_error', cause);
}
