// Applies the declared request rules of one upstream, in their order. Prepared once per configuration. Requests of operations that no rule
// names stay unchanged. Throws malformed_json.

import { GatewayError } from '../../../catalogue/errors.ts';
import type { Checked } from '../../../exchange/exchange.ts';
import type { Operation } from '../../../exchange/operation.ts';
import type { Awaitable } from '../../../shared/awaitable.ts';
import { type JsonNode, type JsonTreeObject, printJsonTree, readJson, scalarOf } from '../../../shared/json-tree.ts';
import { filledPath, pathParameterNames, samePath } from '../../path.ts';
import { type AddressedOperation, type MemberMatchers, membersTest } from '../matchers.ts';
import { changeAt, type MemberPath, memberPath } from '../members.ts';
import { hashedSecret } from './scrypt.ts';
import { hasSet, type SetAsItemsRule, withItems } from './set-as-items.ts';

export interface RequestRule {
  /** Ids of operations. */
  readonly operations: readonly string[];
  /** Applies the rule to every item of a list instead of the body itself. */
  readonly each?: boolean | undefined;
  /** Condition on the body or the item. */
  readonly when?: MemberMatchers | undefined;
  /** Dotted names of members whose strings are hashed. */
  readonly hash?: readonly string[] | undefined;
  /** JSON values for missing members. */
  readonly defaults?: Readonly<Record<string, unknown>> | undefined;
  /** Path parameters to be written in lower case. */
  readonly path?: { readonly lowerCase: readonly string[] } | undefined;
  /** Sends the `set` of a list as the items that it adds and removes. */
  readonly setAsItems?: SetAsItemsRule | undefined;
}

export interface Rewritten {
  /** The path, without query. */
  readonly path: string;
  /** The body to send; undefined if the request has no buffered body, or if the record must be read first. */
  readonly body: Buffer | undefined;
  /** The read of the record, if the body depends on it. */
  readonly recordRead?: RecordRead | undefined;
}

/** A GET of the path of the request. The body of the request is made from the answer to this GET. */
export interface RecordRead {
  /** Identifies the record within its upstream. Paths that differ only in case have the same identity. */
  readonly record: string;
  /** The operation of the GET. The rules for answers use it. */
  readonly operation: Operation;
  /** Returns the body to send. Throws upstream_bad_response, validation_failed. */
  bodyFrom(answer: Buffer): Buffer;
}

/** Returns the change for an operation; undefined if no rule names it. The change is made once per operation, not for each request. */
export type Rewrite = (operation: Operation) => RequestChange | undefined;

/** @param over when aborted, hashing stops and the change rejects */
type RequestChange = (checked: Checked, over?: AbortSignal) => Awaitable<Rewritten>;

/** Returns the changed object, or the same object if nothing changes. */
type Change = (node: JsonNode, addressed: AddressedOperation, over: AbortSignal | undefined) => Promise<JsonNode>;

/** Builds the changes from the rules of one upstream. */
export function createRewrite(rules: readonly RequestRule[]): Rewrite {
  const known = new WeakMap<Operation, ReturnType<Rewrite>>();
  return function rewrite(operation) {
    if (!known.has(operation)) known.set(operation, rewriteFor(operation, rules));
    return known.get(operation);
  };
}

/** The rules for one operation. */
interface OperationRules {
  /** Whether each path parameter is written in lower case, in template order; undefined if none is. */
  readonly isLowered: readonly boolean[] | undefined;
  readonly changes: readonly Change[];
  readonly setAsItems: SetAsItemsRule | undefined;
}

function rewriteFor(operation: Operation, all: readonly RequestRule[]): ReturnType<Rewrite> {
  const own = all.filter(({ operations }) => operations.includes(operation.id));
  if (own.length === 0) return undefined;
  const lowered = new Set(own.flatMap(({ path }) => path?.lowerCase ?? []));
  const isLowered = pathParameterNames(operation.path).map((name) => lowered.has(name));
  const rules: OperationRules = {
    isLowered: isLowered.includes(true) ? isLowered : undefined,
    changes: own.filter(({ hash, defaults }) => hash || defaults).map(toChange),
    setAsItems: own.find((rule) => rule.setAsItems !== undefined)?.setAsItems,
  };
  if (rules.changes.length === 0) return (checked) => rewritten(checked, rules, checked.rawBody);
  return async (checked, over) => rewritten(checked, rules, await changedBody(checked, rules.changes, over));
}

function rewritten(checked: Checked, { isLowered, setAsItems }: OperationRules, body: Buffer | undefined): Rewritten {
  const path = isLowered === undefined ? samePath(checked.operation, checked.path) : lowerCasePath(checked, isLowered);
  const recordRead = setAsItems && body && recordReadFor(checked, setAsItems, body);
  return recordRead === undefined ? { path, body } : { path, body: undefined, recordRead };
}

/** Returns the read of the record, if the body has a `set` that must be sent as items. */
function recordReadFor({ operation, pathValues }: Checked, rule: SetAsItemsRule, body: Buffer): RecordRead | undefined {
  // A body without the text `"set"` is not parsed. A backslash could hide `set` in an escape, so a body with a backslash is parsed.
  if (!body.includes('"set"') && !body.includes('\\')) return undefined;
  const changes = readJson(body);
  if (changes === undefined) throw new GatewayError('malformed_json');
  if (!hasSet(changes, rule.fields)) return undefined;
  return {
    record: JSON.stringify(pathValues.map((value) => value.toLowerCase())),
    operation: { ...operation, id: rule.read, method: 'GET' },
    bodyFrom: (answer) => withItems(changes, rule, answer),
  };
}

function lowerCasePath({ operation, pathValues }: Checked, isLowered: readonly boolean[]): string {
  return filledPath(
    operation,
    pathValues.map((value, index) => (isLowered[index] ? value.toLowerCase() : value)),
  );
}

/** Returns the original bytes, unless a rule has changed something. */
async function changedBody(
  checked: Checked,
  changes: readonly Change[],
  over: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  const { rawBody } = checked;
  if (rawBody === undefined || rawBody.length === 0) return rawBody;
  const root = readJson(rawBody);
  // A body that cannot be parsed is refused, because the upstream could get secrets in it that are not hashed.
  if (root === undefined) throw new GatewayError('malformed_json');
  let tree = root;
  for (const change of changes) tree = await change(tree, checked, over);
  return tree === root ? rawBody : Buffer.from(printJsonTree(tree));
}

function toChange({ each, when, hash, defaults }: RequestRule): Change {
  const holds = membersTest(when ?? {});
  const paths = (hash ?? []).map(memberPath);
  const defaultMembers = Object.entries(defaults ?? {}).map(
    ([name, value]) => [name, readJson(Buffer.from(JSON.stringify(value))) as JsonNode] as const,
  );

  async function changeOne(
    node: JsonNode,
    addressed: AddressedOperation,
    over: AbortSignal | undefined,
  ): Promise<JsonNode> {
    if (node.kind !== 'object' || !holds(node, addressed)) return node;
    let changed: JsonNode = withDefaults(node, defaultMembers);
    for (const path of paths) changed = await withHashes(changed, path, over);
    return changed;
  }

  return async (node, addressed, over) => {
    if (!each || node.kind !== 'array') return changeOne(node, addressed, over);
    const items: JsonNode[] = [];
    for (const item of node.items) items.push(await changeOne(item, addressed, over));
    return items.every((item, index) => item === node.items[index]) ? node : { kind: 'array', items };
  };
}

function withDefaults(node: JsonTreeObject, defaults: readonly (readonly [string, JsonNode])[]): JsonTreeObject {
  const absent = defaults.filter(([name]) => !node.members.some(([member]) => member === name));
  return absent.length === 0 ? node : { kind: 'object', members: [...node.members, ...absent] };
}

/** Hashes the secrets of a request one after the other, because a request with many secrets must not delay other requests. */
async function withHashes(root: JsonNode, path: MemberPath, over: AbortSignal | undefined): Promise<JsonNode> {
  const plain = new Map<string, string>();
  changeAt(root, path, (found) => {
    for (const text of stringsIn(found)) plain.set(text, text);
    return found;
  });
  for (const text of plain.keys()) plain.set(text, await hashedSecret(text, over));
  return changeAt(root, path, (found) => withStrings(found, plain)) as JsonNode;
}

function stringsIn(node: JsonNode): string[] {
  if (node.kind === 'scalar') return typeof node.value === 'string' ? [node.value] : [];
  return (node.kind === 'array' ? node.items : node.members.map(([, value]) => value)).flatMap(stringsIn);
}

/** Returns the same node if no string changes. */
function withStrings(node: JsonNode, replacements: ReadonlyMap<string, string>): JsonNode {
  if (node.kind === 'scalar') {
    const replacement = typeof node.value === 'string' ? replacements.get(node.value) : undefined;
    return replacement === undefined || replacement === node.value ? node : scalarOf(replacement);
  }
  if (node.kind === 'array') {
    const items = node.items.map((item) => withStrings(item, replacements));
    return items.every((item, index) => item === node.items[index]) ? node : { kind: 'array', items };
  }
  return { kind: 'object', members: node.members.map(([name, value]) => [name, withStrings(value, replacements)]) };
}
