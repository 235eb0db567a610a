// Collects the fields for the search: fields of request bodies and of the objects of resources, and parameters.

import { isRecord } from '../../shared/is-record.ts';
import { SLUG_MAX, shorten } from '../html.ts';
import { plain } from '../markdown.ts';
import type { AddressedContract, OperationAddress, OperationGroup } from '../reference/addresses.ts';
import { type DocumentTools, membersOf, textAt } from '../reference/reference.ts';
import { objectSchemaOf } from '../reference/resource-object.ts';
import { createSchemaViews, type MemberView } from '../reference/schema-view.ts';
import { OPERATORS, type SearchEntry } from './entry.ts';

/** Maximum numbers of fields of one contract: of bodies and objects, and of nested fields. */
const FIELDS_MAX = 2000;
const NESTED_MAX = 1000;
const TEXT_MAX = 120;

export type FieldTools = Pick<DocumentTools, 'resolve'>;

/**
 * Returns the fields. A field of several operations of a resource is listed once, at the first operation, or at the object of the resource.
 */
export function fieldsIn({ groups, operations }: AddressedContract, tools: FieldTools): SearchEntry[] {
  const entries = [...parametersIn(operations)];
  const nested: SearchEntry[] = [];
  for (const group of groups) {
    if (entries.length >= FIELDS_MAX) break;
    const own = new Map<string, SearchEntry>();
    const add = (members: readonly MemberView[], page: string, context: string) => {
      const kind = group.isForOperators ? OPERATORS : 'Field';
      for (const { name, path, text } of withNested(members, page))
        if (!own.has(name)) own.set(name, [kind, name, path, context, text]);
    };
    for (const at of group.operations) add(bodyMembers(at, tools), `${at.path}#body`, `Body of ${at.title}`);
    add(objectMembers(group, tools), `${group.path}#object`, `Object of ${group.name}`);
    for (const entry of own.values()) (entry[1].includes('.') ? nested : entries).push(entry);
  }
  return [...entries.slice(0, FIELDS_MAX), ...nested.slice(0, NESTED_MAX)];
}

interface FoundField {
  /** `line_items.unit_amount` */
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** Yields members and nested members. Leaves out members whose address would be cut, or would differ from the name. */
function* withNested(members: readonly MemberView[], above: string, outer = ''): Generator<FoundField> {
  for (const { name, schema } of members) {
    const path = `${above}-${name}`;
    if (!/^[\w-]+$/.test(name) || path.length - path.indexOf('#') > SLUG_MAX) continue;
    yield { name: outer + name, path, text: shorten(plain(schema.description), TEXT_MAX) };
    yield* withNested(schema.members, path, `${outer}${name}.`);
  }
}

function bodyMembers({ operation: { root, declared } }: OperationAddress, tools: FieldTools): readonly MemberView[] {
  const body = tools.resolve(root, declared.requestBody);
  const [[, media] = []] = isRecord(body) ? membersOf(body.content) : [];
  return isRecord(media) ? createSchemaViews(root, tools)(media.schema, 'request').members : [];
}

function objectMembers(group: OperationGroup, tools: FieldTools): readonly MemberView[] {
  return objectSchemaOf(group, tools)?.members ?? [];
}

/**
 * Returns parameters of queries and headers. A parameter that many operations share is listed at the first operation. Paths show their
 * parameters.
 */
function parametersIn(operations: readonly OperationAddress[]): SearchEntry[] {
  const uses = operations
    .filter(({ isForOperators }) => !isForOperators)
    .flatMap((at) => at.operation.parameters.map((parameter) => ({ at, parameter, name: textAt(parameter, 'name') })))
    .filter(({ parameter }) => /^(query|header)$/.test(textAt(parameter, 'in')));
  return [...Map.groupBy(uses, ({ name }) => name)].flatMap(([name, [first, ...others]]): SearchEntry[] => {
    if (first === undefined) return [];
    const { at, parameter } = first;
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    const text = shorten(plain(textAt(parameter, 'description')), TEXT_MAX);
    const place = textAt(parameter, 'in');
    const context = `${place === 'query' ? 'Query' : 'Header'} of ${at.title}${more}`;
    return [['Field', name, `${at.path}#${place}-${name}`, context, text]];
  });
}
