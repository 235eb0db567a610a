// The fields that the search finds: those of request bodies, of the objects of resources, and parameters.

import { shortened } from '../html.ts';
import { plain } from '../markdown.ts';
import type { AddressedContract, OperationAddress, OperationGroup } from '../reference/addresses.ts';
import { type DocumentTools, isDocumentObject, membersOf, textAt } from '../reference/reference.ts';
import { objectSchemaOf } from '../reference/resource-object.ts';
import { createSchemaViews, type MemberView } from '../reference/schema-view.ts';
import { OPERATORS, type SearchEntry } from './entry.ts';

/** Fields of one contract. */
const FIELDS_MAX = 2000;
const TEXT_MAX = 120;

export type FieldTools = Pick<DocumentTools, 'resolve'>;

/** A field of several operations of a resource is there once, at the first one that takes it; else at the object of the resource. */
export function fieldsIn({ groups, operations }: AddressedContract, tools: FieldTools): SearchEntry[] {
  const entries = [...parametersIn(operations)];
  for (const group of groups) {
    if (entries.length >= FIELDS_MAX) break;
    const own = new Map<string, SearchEntry>();
    const add = (members: readonly MemberView[], path: string, context: string) => {
      for (const { name, schema } of members)
        if (!own.has(name))
          own.set(name, [
            group.isForOperators ? OPERATORS : 'Field',
            name,
            `${path}-${name}`,
            context,
            shortened(plain(schema.description), TEXT_MAX),
          ]);
    };
    for (const at of group.operations) add(bodyMembers(at, tools), `${at.path}#body`, at.title);
    add(objectMembers(group, tools), `${group.path}#object`, group.name);
    entries.push(...own.values());
  }
  return entries.slice(0, FIELDS_MAX);
}

function bodyMembers({ operation: { root, declared } }: OperationAddress, tools: FieldTools): readonly MemberView[] {
  const body = tools.resolve(root, declared.requestBody);
  const [[, media] = []] = isDocumentObject(body) ? membersOf(body.content) : [];
  return isDocumentObject(media) ? createSchemaViews(root, tools)(media.schema, 'request').members : [];
}

function objectMembers(group: OperationGroup, tools: FieldTools): readonly MemberView[] {
  return objectSchemaOf(group, tools)?.members ?? [];
}

/** Parameters of the query and headers: many operations share one, which is told at the first. Those of paths are in the paths. */
function parametersIn(operations: readonly OperationAddress[]): SearchEntry[] {
  const uses = operations
    .filter(({ isForOperators }) => !isForOperators)
    .flatMap((at) => at.operation.parameters.map((parameter) => ({ at, parameter, name: textAt(parameter, 'name') })))
    .filter(({ parameter }) => /^(query|header)$/.test(textAt(parameter, 'in')));
  return [...Map.groupBy(uses, ({ name }) => name)].flatMap(([name, [first, ...others]]): SearchEntry[] => {
    if (first === undefined) return [];
    const { at, parameter } = first;
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    const text = shortened(plain(textAt(parameter, 'description')), TEXT_MAX);
    return [['Field', name, `${at.path}#${textAt(parameter, 'in')}-${name}`, `${at.title}${more}`, text]];
  });
}
