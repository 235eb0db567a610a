// Reads the query string of a list. Throws validation_failed with every violation at once.
import { type FieldSpot, type FieldValue, refuse } from './kinds.ts';
import { SandboxRefusal, type SandboxViolation } from './refusals.ts';
import { type SandboxResource, type Sort, sortsOf } from './resource.ts';

export interface ListQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly sort: string;
  readonly order: Sort;
  readonly descending: boolean;
  /** The filters in their stored form, in the order of their names. */
  readonly filters: readonly (readonly [name: string, value: FieldValue])[];
}

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const SORT_DEFAULT = 'created_at_desc';

export function readQuery(resource: SandboxResource, query: string): ListQuery {
  const parameters = new URLSearchParams(query);
  const violations: SandboxViolation[] = [];
  const spot = (name: string): FieldSpot => ({ in: 'query', path: [name], violations });

  for (const name of new Set(parameters.keys())) {
    const known = ['limit', 'cursor', 'sort'].includes(name) || Object.hasOwn(resource.filters, name);
    if (!known) refuse(spot(name), 'unknown', 'Is not a parameter of this list.');
    else if (parameters.getAll(name).length > 1) refuse(spot(name), 'duplicate', 'Must be given once.');
  }
  const limit = readLimit(parameters.get('limit'), spot('limit'));
  const sort = parameters.get('sort') ?? SORT_DEFAULT;
  const order = readSort(resource, sort, spot('sort'));
  const filters = readFilters(resource, parameters, spot);

  if (violations.length > 0 || !order) throw new SandboxRefusal('validation_failed', { errors: violations });
  return {
    limit,
    cursor: parameters.get('cursor') ?? undefined,
    sort,
    order,
    descending: sort.endsWith('_desc'),
    filters,
  };
}

function readLimit(text: string | null, spot: FieldSpot): number {
  if (text === null) return LIMIT_DEFAULT;
  if (!/^\d{1,9}$/.test(text)) refuse(spot, 'wrong_type', 'Must be an integer.', { type: 'integer' });
  else if (Number(text) < 1) refuse(spot, 'too_small', 'Must be at least 1.', { minimum: 1 });
  else if (Number(text) > LIMIT_MAX) refuse(spot, 'too_large', `Must be at most ${LIMIT_MAX}.`, { maximum: LIMIT_MAX });
  return Number(text);
}

function readSort(resource: SandboxResource, sort: string, spot: FieldSpot): Sort | undefined {
  const sorts = sortsOf(resource);
  const field = sort.replace(/_(asc|desc)$/, '');
  if (field !== sort && Object.hasOwn(sorts, field)) return sorts[field];
  const values = Object.keys(sorts).flatMap((name) => [`${name}_asc`, `${name}_desc`]);
  return refuse(spot, 'not_allowed', `Must be one of ${values.join(', ')}.`, { enum: values });
}

function readFilters(
  resource: SandboxResource,
  parameters: URLSearchParams,
  spot: (name: string) => FieldSpot,
): [string, FieldValue][] {
  return Object.keys(resource.filters)
    .sort()
    .flatMap((name): [string, FieldValue][] => {
      const text = parameters.get(name);
      const kind = resource.filters[name]?.kind;
      if (text === null || !kind) return [];
      const value = kind.read(kind.fromText ? kind.fromText(text) : text, spot(name));
      return value === undefined ? [] : [[name, value]];
    });
}
