// Finds the object of a resource, which most operations of its group return, possibly in an envelope or in a list.

import { isRecord } from '../../shared/is-record.ts';
import type { OperationGroup } from './addresses.ts';
import { createMediaViews } from './body-view.ts';
import { type DocumentObject, type DocumentTools, membersOf, type ReferredOperation } from './reference.ts';
import { componentName, createSchemaViews, type SchemaView } from './schema-view.ts';

export interface ResourceObject {
  /** The name of its component; empty if it has none. */
  readonly name: string;
  readonly schema: SchemaView;
  /** The example; undefined if none is valid. */
  readonly example: unknown;
}

type Resolver = Pick<DocumentTools, 'resolve'>;

/** An object that an operation returns. */
interface FoundObject {
  /** The schema in the contract, mostly a reference. */
  readonly schema: unknown;
  /** The target of the reference. */
  readonly target: unknown;
  readonly operation: ReferredOperation;
  readonly media: DocumentObject;
  /** Whether it is the whole response. */
  readonly isAlone: boolean;
}

/** Operations of a group that are looked at. */
const LOOKED_AT_MAX = 50;
const UNWRAPPED_MAX = 3;

/** Returns undefined if no operation returns an object as JSON. */
export function resourceObject(group: OperationGroup, tools: DocumentTools): ResourceObject | undefined {
  const found = objectIn(group, tools);
  const schema = objectSchemaOf(group, tools);
  if (found === undefined || schema === undefined) return undefined;
  return { name: componentName(found.schema), schema, example: exampleOf(found, tools) };
}

/** Returns the schema of the object, without an example, which would take longer. */
export function objectSchemaOf(group: OperationGroup, tools: Resolver): SchemaView | undefined {
  const found = objectIn(group, tools);
  return found && createSchemaViews(found.operation.root, tools)(found.schema, 'answer');
}

function objectIn({ operations }: OperationGroup, tools: Resolver): FoundObject | undefined {
  const all = operations.slice(0, LOOKED_AT_MAX).flatMap(({ operation }) => foundIn(operation, tools));
  const alike = [...Map.groupBy(all, ({ target }) => target).values()];
  const [most] = alike.toSorted((one, other) => other.length - one.length);
  // An operation that returns the object itself has an example of it.
  return most?.find(({ isAlone }) => isAlone) ?? most?.[0];
}

function foundIn(operation: ReferredOperation, { resolve }: Resolver): FoundObject[] {
  const { root, declared } = operation;
  const [, answer] = membersOf(declared.responses).find(([status]) => /^2/.test(status)) ?? [];
  const content = resolve(root, answer);
  const [, found] = membersOf(isRecord(content) ? content.content : undefined).find(isJson) ?? [];
  const media = resolve(root, found);
  if (!isRecord(media)) return [];
  const schema = unwrap(media.schema, (value) => resolve(root, value));
  const target = resolve(root, schema);
  const isAlone = target === resolve(root, media.schema);
  return isObject(target) ? [{ schema, target, operation, media, isAlone }] : [];
}

function isJson([type]: readonly [string, unknown]): boolean {
  return /[/+]json\b/.test(type);
}

function isObject(schema: unknown): schema is DocumentObject {
  return isRecord(schema) && (membersOf(schema.properties).length > 0 || Array.isArray(schema.allOf));
}

/** Returns the contents of a list or an envelope, which are the items, `data`, or the only list among the fields. */
function unwrap(schema: unknown, resolve: (value: unknown) => unknown, depth = 0): unknown {
  const target = resolve(schema);
  if (!isRecord(target) || depth > UNWRAPPED_MAX) return schema;
  if (target.items !== undefined) return unwrap(target.items, resolve, depth + 1);
  const [, inside] = membersOf(target.properties).find(([name]) => isEnvelope(name, target, resolve)) ?? [];
  return inside === undefined ? schema : unwrap(inside, resolve, depth + 1);
}

function isEnvelope(name: string, { properties }: DocumentObject, resolve: (value: unknown) => unknown): boolean {
  const all = membersOf(properties);
  const lists = all.filter(([, one]) => isListOfObjects(one, resolve));
  if (all.some(([own]) => own === 'id')) return false;
  if (lists.length === 1) return lists[0]?.[0] === name;
  return name === 'data' && all.some(([own, one]) => own === 'data' && isObject(resolve(one)));
}

function isListOfObjects(schema: unknown, resolve: (value: unknown) => unknown): boolean {
  const target = resolve(schema);
  return isRecord(target) && target.items !== undefined && isObject(resolve(target.items));
}

/** Returns the example of the operation if it shows only the object; otherwise an example that is made for the schema. */
function exampleOf({ schema, operation: { root }, media, isAlone }: FoundObject, tools: DocumentTools): unknown {
  const mediaIn = createMediaViews(root, tools, createSchemaViews(root, tools));
  const [view] = mediaIn({ 'application/json': isAlone ? media : { schema } }, 'answer');
  return view?.examples[0]?.value;
}
