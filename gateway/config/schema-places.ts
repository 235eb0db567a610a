// Finds the schemas at a place of a file, and the keys that they define.

import type { z } from 'zod';

interface Definition {
  /** Set for defaults and optional members. */
  readonly innerType?: z.core.$ZodType;
  /** Set for transformations. */
  readonly in?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly valueType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  /** Set for unions. */
  readonly options?: readonly z.core.$ZodType[];
}

type Path = readonly (string | number)[];

/** Returns the schemas at a path. There are several where a block on the way has several forms. */
export function schemasAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType[] {
  const [first, ...rest] = path;
  if (first === undefined) return [schema];
  return formsOf(schema).flatMap(({ shape, valueType, element }) => {
    const below = shape?.[first] ?? valueType ?? element;
    return below ? schemasAt(below, rest) : [];
  });
}

/** Returns the keys that a schema defines at a path. */
export function keysAt(schema: z.core.$ZodType, path: Path): string[] {
  return schemasAt(schema, path)
    .flatMap(formsOf)
    .flatMap(({ shape }) => Object.keys(shape ?? {}));
}

/** The definitions inside defaults, transformations and unions. */
function formsOf(schema: z.core.$ZodType): Definition[] {
  const { def } = schema._zod as { def: Definition };
  const inner = def.innerType ?? def.in;
  if (inner) return formsOf(inner);
  return def.options ? def.options.flatMap(formsOf) : [def];
}
