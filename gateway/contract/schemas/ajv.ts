// Creates the Ajv instances of a document. Requests and answers have separate instances, because read-only members are refused only in
// requests.

import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import type { ContractDocument } from '../reading/document.ts';
import { toPattern } from '../scalars/patterns.ts';
import { countTurns } from './counted-keywords.ts';
import { letDiscriminatorsDecide } from './discriminator.ts';
import { replaceUnevaluated } from './inherited-names.ts';
import { replaceKeywords } from './keywords.ts';
import { createRecursion } from './recursion.ts';
import { rememberReferences } from './references.ts';

/** The key under which a document is registered with its Ajv. */
export const DOCUMENT_KEY = 'contract';

/** Returns the instance that collects all errors, or the instance that stops at the first error. */
export type AjvByExtent = (extent: 'all' | 'first') => Ajv2020;

/** Creates each instance on first use. */
export function createAjvByExtent(document: ContractDocument, isRequest: boolean): AjvByExtent {
  const made = new Map<string, Ajv2020>();
  const isRecursive = createRecursion(document.root);
  return function ajvFor(extent) {
    const known = made.get(extent);
    if (known) return known;
    const ajv = createAjv(isRequest, extent === 'all');
    // References by name say too little, so all results are remembered.
    rememberReferences(ajv, document.hasNames ? () => true : isRecursive);
    countTurns(ajv);
    ajv.addSchema(registeredForm(document), DOCUMENT_KEY, undefined, false);
    made.set(extent, ajv);
    return ajv;
  };
}

/**
 * Returns the document in the form that Ajv registers. Before it compiles the first schema, Ajv searches the whole document for schema
 * names. For 13 MB this takes 140 ms, while a request waits. If a document has no names, its members are made non-enumerable, so that the
 * search finds nothing. References by pointer still resolve.
 */
function registeredForm({ root, hasNames }: ContractDocument): AnySchemaObject {
  if (hasNames) return root;
  const hidden = Object.entries(root).map(([name, value]) => [name, { value, enumerable: false }] as const);
  return Object.defineProperties({}, Object.fromEntries(hidden));
}

function createAjv(isRequest: boolean, allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    // Infinity must not pass as an integer, because JSON.parse reads 1e400 in an answer as Infinity.
    strictNumbers: true,
    allErrors,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    // A member may be called `constructor`.
    ownProperties: true,
    // contract/violations/unions.ts needs the schema and the data of each error.
    verbose: true,
    // Ajv's own optimization takes half of the time of a compilation, and V8 makes the same code without it.
    code: { optimize: false, regExp: Object.assign(toPattern, { code: 'toPattern' }) as never },
  });
  replaceKeywords(ajv);
  letDiscriminatorsDecide(ajv);
  replaceUnevaluated(ajv);
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
