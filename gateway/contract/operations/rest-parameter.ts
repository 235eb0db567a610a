// Finds the path parameter of an operation that accepts slashes. It is declared by x-gateway-path in the contract, by x-multi-segment,
// which some vendors write, by the name `*`, which Fastify gives its wildcards, or by the entry of upstreams.yaml.

import type { Mistake } from '../../shared/mistakes.ts';
import type { JsonObject, LocatedValue } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { segmentsOf } from './routes.ts';

const WILDCARD = '*';

interface PathOfOperation {
  readonly document: ContractDocument;
  readonly place: readonly string[];
  readonly template: string;
  readonly parameters: readonly LocatedValue[];
  /** The parameter that the entry names. */
  readonly restOfPath: string | undefined;
}

/** Returns the name of the parameter; undefined if there is none. Pushes mistakes for an `x-gateway-path` that has no meaning. */
export function restParameterOf(path: PathOfOperation, mistakes: Mistake[]): string | undefined {
  const { document, place, template, parameters, restOfPath } = path;
  const whole = new Set(wholeSegments(template));
  const found: string[] = [];
  for (const { value } of parameters) {
    const { name, in: where, 'x-gateway-path': says, 'x-multi-segment': ofVendor } = value as JsonObject;
    const takesSlashes = where === 'path' && whole.has(String(name));
    if (says !== undefined && (says !== 'rest' || !takesSlashes)) {
      const reason = `x-gateway-path: ${JSON.stringify(says)} is not possible at the parameter "${name}".`;
      const remedy = 'Write x-gateway-path: rest at a path parameter that is a whole segment of its path.';
      mistakes.push(document.position().mistakeAt(place, reason, remedy));
    } else if (takesSlashes && (says === 'rest' || ofVendor === true)) found.push(String(name));
  }
  if (whole.has(WILDCARD) && !found.includes(WILDCARD)) found.push(WILDCARD);
  if (restOfPath !== undefined && whole.has(restOfPath)) return restOfPath;
  if (found.length > 1) {
    const reason = `${found.map((name) => `"${name}"`).join(' and ')} take slashes, so the end of the first one is not known.`;
    const remedy =
      'Let one of them take slashes, or name it by operations.<id>.restOfPath in its entry of upstreams.yaml.';
    mistakes.push(document.position().mistakeAt(place, reason, remedy));
  }
  return found.at(-1);
}

/** Returns the parameters that are whole segments of a template. */
function wholeSegments(template: string): string[] {
  return segmentsOf(template).flatMap((segment) => /^\{([^{}]*)\}$/.exec(segment)?.[1] ?? []);
}
