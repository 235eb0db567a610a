// Finds path parameters with separators in their text: lists and objects, and all parameters of style label and matrix (OpenAPI 3.1.1,
// section 4.8.12.3). Only segments with a parameter of style matrix may have semicolons, because some servers cut off the text after a
// semicolon.

import type { Operation } from '../../exchange/operation.ts';
import type { JsonObject, LocatedValue } from '../pointer.ts';
import { formsOf, isKeyed, isListed, parameterSchema, typesOf } from './value-types.ts';

const none: ReadonlyMap<string, string> = new Map();

/** Returns the styles of these parameters, by name. */
export function pathStylesOf(root: JsonObject, parameters: readonly LocatedValue[]): ReadonlyMap<string, string> {
  const styles = parameters.flatMap((parameter) => {
    const { name, in: place, style = 'simple', content } = parameter.value as JsonObject;
    if (place !== 'path' || content !== undefined) return [];
    const types = typesOf(formsOf(root, parameterSchema(root, parameter)));
    const isSeparated = style !== 'simple' || isListed({ types }) || isKeyed({ types });
    return isSeparated ? [[String(name), String(style)] as const] : [];
  });
  return styles.length === 0 ? none : new Map(styles);
}

type PathTemplate = Pick<Operation, 'path' | 'restOfPath' | 'pathStyles'>;

export function hasMatrixParameter({ pathStyles }: Pick<Operation, 'pathStyles'>): boolean {
  return pathStyles.size > 0 && [...pathStyles.values()].includes('matrix');
}

/** Returns the test of a path that an operation with such parameters may have; undefined if there is no such operation. */
export function createMatrixPaths(operations: readonly PathTemplate[]): ((path: string) => boolean) | undefined {
  const forms = operations.filter(hasMatrixParameter).map((operation) => new RegExp(formOf(operation)));
  return forms.length === 0 ? undefined : (path) => forms.some((form) => form.test(path));
}

const known = new WeakMap<object, RegExp>();

/** Whether semicolons stand only where this operation has parameters of style matrix. */
export function semicolonsFit(operation: PathTemplate, path: string): boolean {
  if (!path.includes(';')) return true;
  if (!hasMatrixParameter(operation)) return false;
  const form = known.get(operation) ?? new RegExp(formOf(operation));
  known.set(operation, form);
  return form.test(path);
}

/** Returns the form of a path, segment by segment. Literal text may be percent-encoded, because `match` compares it. */
function formOf({ path, restOfPath, pathStyles }: PathTemplate): string {
  const segments = path.split('/').slice(1);
  const forms = segments.map((segment) => {
    if (segment === `{${restOfPath}}`) return '[^;]+';
    const isMatrix = [...segment.matchAll(/\{([^{}]*)\}/g)].some(
      ([, name]) => pathStyles.get(name as string) === 'matrix',
    );
    return isMatrix ? '[^/]+' : '[^/;]*';
  });
  return `^/${forms.join('/')}$`;
}
