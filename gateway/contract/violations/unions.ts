// Reduces Ajv's errors about anyOf and oneOf to the useful errors. These are the errors of the intended branch if the value identifies it,
// or otherwise one error for the union.

import type { ErrorObject } from 'ajv';
import { jsonTypesOf } from '../parameters/value-types.ts';
import { follow, isRecord, type JsonObject } from '../pointer.ts';
import { takeSteps } from '../schemas/check-scope.ts';
import { branchNames } from '../schemas/discriminator.ts';
import { IN_PLACE, reachableFrom } from '../schemas/reachable.ts';

const STEPS_PER_ERROR = 20;
const STEPS_PER_SCHEMA = 20;

const UNION_KEYWORDS = new Set(['anyOf', 'oneOf', 'contains']);

/**
 * The objects of a schema, with its references followed. `all` contains objects at any depth, `inPlace` only objects that describe the same
 * value.
 */
interface Reach {
  all(schema: unknown): ReadonlySet<unknown>;
  inPlace(schema: unknown): ReadonlySet<unknown>;
}

/**
 * Replaces the errors of failed unions. Ajv reports the errors of all branches right before the error of the union. The errors of branches
 * are recognized by their schemas, and not by schema paths, because these restart after every reference.
 */
export function settleUnions(errors: readonly ErrorObject[], root: JsonObject): readonly ErrorObject[] {
  if (!errors.some(({ keyword }) => UNION_KEYWORDS.has(keyword))) return errors;
  return settleAll(errors, root, createReach(root));
}

function settleAll(errors: readonly ErrorObject[], root: JsonObject, reach: Reach): ErrorObject[] {
  takeSteps(STEPS_PER_ERROR * errors.length);
  const settled: (readonly ErrorObject[])[] = [];
  for (let i = errors.length - 1; i >= 0; i--) {
    const error = errors[i] as ErrorObject;
    if (!UNION_KEYWORDS.has(error.keyword)) {
      settled.push([error]);
      continue;
    }
    const parts = reach.all(error.schema);
    const end = i;
    while (i > 0 && belongs(errors[i - 1] as ErrorObject, error, parts)) i--;
    settled.push(settle(error, errors.slice(i, end), root, reach));
  }
  return withoutEchoes(settled.reverse().flat());
}

/** Leaves out a union without a matching branch, if another schema of the same value restricts the types. */
function withoutEchoes(errors: ErrorObject[]): ErrorObject[] {
  const mistyped = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  if (mistyped.size === 0) return errors;
  return errors.filter(
    ({ keyword, instancePath, params }) =>
      !((keyword === 'anyOf' || keyword === 'oneOf') && !params.passingSchemas && mistyped.has(instancePath)),
  );
}

function belongs(error: ErrorObject, union: ErrorObject, parts: ReadonlySet<unknown>): boolean {
  return error.instancePath.startsWith(union.instancePath) && parts.has(error.parentSchema);
}

function settle(
  union: ErrorObject,
  ofBranches: readonly ErrorObject[],
  root: JsonObject,
  reach: Reach,
): readonly ErrorObject[] {
  if (union.keyword === 'contains') return [union];
  const branches = union.schema as unknown[];
  const named = byDiscriminator(union, branches);
  if (union.params.passingSchemas) return named && !('branch' in named) ? [named] : [union];
  const meant = named ?? byType(union, branches, root);
  if (meant === undefined) return [union];
  if (!('branch' in meant)) return [meant];
  // A circular schema also contains the other branches, but not in place.
  const here = reach.inPlace(meant.branch);
  const below = reach.all(meant.branch);
  const chosen = ofBranches.filter((error) =>
    (error.instancePath === union.instancePath ? here : below).has(error.parentSchema),
  );
  return chosen.length > 0 ? settleAll(chosen, root, reach) : [union];
}

type MeantBranch = { readonly branch: unknown } | ErrorObject | undefined;

/** Returns the branch that the discriminator names, or an error about the discriminator itself (OpenAPI 3.1.1, section 4.8.25). */
function byDiscriminator(union: ErrorObject, branches: readonly unknown[]): MeantBranch {
  const { discriminator } = union.parentSchema ?? {};
  if (!isRecord(discriminator) || !isRecord(union.data)) return undefined;
  const property = String(discriminator.propertyName);
  const given = Object.hasOwn(union.data, property) ? union.data[property] : undefined;
  if (given === undefined) return { ...union, keyword: 'required', params: { missingProperty: property } };
  const names = branchNames(discriminator, branches);
  const found = names.findIndex((own) => own.includes(String(given)));
  if (found !== -1) return { branch: branches[found] };
  const allowedValues = names.flat();
  if (allowedValues.length === 0) return undefined;
  return { ...union, instancePath: `${union.instancePath}/${property}`, keyword: 'enum', params: { allowedValues } };
}

/** Returns the branch if only one admits the type of the value. Nullable schemas are unions of this kind. */
function byType(union: ErrorObject, branches: readonly unknown[], root: JsonObject): MeantBranch {
  const admitting = branches.filter((branch) => admits(root, branch, jsonTypesOf(union.data), 0));
  return admitting.length === 1 ? { branch: admitting[0] } : undefined;
}

function admits(root: JsonObject, schema: unknown, types: readonly string[], depth: number): boolean {
  takeSteps(STEPS_PER_SCHEMA);
  const followed = follow(root, { value: schema, pointer: '' }).value;
  if (!isRecord(followed) || depth > 8) return followed !== false;
  const declared: unknown[] = [followed.type ?? types].flat();
  if (!types.some((type) => declared.includes(type))) return false;
  const below = (keyword: string) => (Array.isArray(followed[keyword]) ? followed[keyword] : []);
  return (
    below('allOf').every((part) => admits(root, part, types, depth + 1)) &&
    ['anyOf', 'oneOf'].every(
      (keyword) => below(keyword).length === 0 || below(keyword).some((part) => admits(root, part, types, depth + 1)),
    )
  );
}

function createReach(root: JsonObject): Reach {
  return {
    all: memoizeReach((schema) => reachableFrom(root, schema)),
    inPlace: memoizeReach((schema) => reachableFrom(root, schema, (name) => IN_PLACE.has(name))),
  };
}

function memoizeReach(reach: Reach['all']): Reach['all'] {
  const known = new Map<unknown, ReadonlySet<unknown>>();
  return (schema) => {
    const before = known.get(schema);
    if (before !== undefined) return before;
    const found = reach(schema);
    takeSteps(STEPS_PER_SCHEMA * found.size);
    known.set(schema, found);
    return found;
  };
}
