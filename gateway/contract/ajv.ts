// Ajv as contracts need it: one for each document, and for requests and answers apart, since what is read-only is refused in one only.

import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import type { ContractDocument } from './document.ts';
import { replaceKeywords } from './keywords.ts';
import { toPattern } from './patterns.ts';
import { rememberReferences } from './references.ts';

/** The name under which a document is known to its Ajv. */
export const DOCUMENT_KEY = 'contract';

/** The one that finds all errors, or the first only. */
export type Ajvs = (extent: 'all' | 'first') => Ajv2020;

/** Made when they are first asked for. */
export function createAjvs(document: ContractDocument, isRequest: boolean): Ajvs {
  const made = new Map<string, Ajv2020>();
  return function ajvFor(extent) {
    const known = made.get(extent);
    if (known) return known;
    const ajv = createAjv(isRequest, extent === 'all');
    if (!document.hasNames) rememberReferences(ajv);
    ajv.addSchema(registered(document), DOCUMENT_KEY, undefined, false);
    made.set(extent, ajv);
    return ajv;
  };
}

/**
 * A document as Ajv gets it. Ajv looks through all of it for schemas with names before it compiles the first one: 140 ms for 13 MB,
 * with a request waiting. Where there are none, it is shown nothing to look through; references by place find everything all the same.
 */
function registered({ root, hasNames }: ContractDocument): AnySchemaObject {
  if (hasNames) return root;
  const hidden = Object.entries(root).map(([name, value]) => [name, { value, enumerable: false }] as const);
  return Object.defineProperties({}, Object.fromEntries(hidden));
}

function createAjv(isRequest: boolean, allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    // An answer may say 1e400, which is no integer.
    strictNumbers: true,
    allErrors,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    // A member may be called `constructor`.
    ownProperties: true,
    // Union errors are reported by what the union was.
    verbose: true,
    code: { regExp: Object.assign(toPattern, { code: 'toPattern' }) as never },
  });
  replaceKeywords(ajv);
  if (isRequest) {
    ajv.removeKeyword('readOnly');
    ajv.addKeyword({
      keyword: 'readOnly',
      schemaType: 'boolean',
      error: { message: 'is read-only' },
      validate: (readOnly: boolean) => !readOnly,
    });
  }
  return ajv;
}
