// Reads the query string into typed parameters, and builds the query for the upstream.

import { isRecord } from '../../shared/is-record.ts';
import type { Violation } from '../violations/violations.ts';
import { decodeFormText, isEncoded } from './form-text.ts';
import { type ItemPositions, nestedKeysOf, setNested } from './nested.ts';
import { type Parameter, toMember, toScalar, toValue, withoutReference } from './parameter.ts';
import { createValueShapes, type ValueShape } from './value-shape.ts';

type Values = Record<string, unknown>;

/** Maximum number of names that are noted for one request. */
const DROPPED_MAX = 16;

/** The positions of items for operations without deep objects, which have none. */
const noItemPositions: ItemPositions = new Map();

/** The treatment of parameters that the contract does not declare. */
type UndeclaredQuery = 'refuse' | 'pass' | 'drop';

export class QueryReader {
  readonly #declared: ReadonlyMap<string, Parameter>;
  readonly #deepObjects: readonly { readonly name: string; readonly shape: ValueShape }[];
  /** The exploded object parameters, whose members are parameters of the query. */
  readonly #spread: readonly Parameter[];
  /** The defaults, as pairs of a query. */
  readonly #fallbacks: readonly { readonly name: string; readonly text: string }[];
  readonly #allFallbacks: string;
  readonly #undeclared: UndeclaredQuery;

  constructor(parameters: readonly Parameter[], undeclared: UndeclaredQuery = 'refuse') {
    this.#declared = new Map(parameters.map((parameter) => [parameter.name, parameter]));
    this.#deepObjects = parameters
      .filter(({ style }) => style === 'deepObject')
      .map(({ name, root, forms }) => ({ name, shape: createValueShapes(root)(forms.slice(0, 1)) }));
    this.#spread = parameters.filter(isSpread);
    this.#fallbacks = parameters.flatMap((parameter) => {
      const text = fallbackText(parameter);
      return text === '' ? [] : [{ name: parameter.name, text }];
    });
    this.#allFallbacks = this.#fallbacks.length === 0 ? '' : `?${this.#fallbacks.map(({ text }) => text).join('&')}`;
    this.#undeclared = undeclared;
  }

  /** Reads all parameters, including undeclared parameters. Pushes violations found on the way (repeats, broken escapes). */
  read(text: string, values: Values, violations: Violation[]): void {
    if (text === '') return;
    const positions = this.#deepObjects.length > 0 ? new Map() : noItemPositions;
    const decode = isEncoded(text) ? decodeFormText : asItIs;
    for (const pair of text.includes('&') ? text.split('&') : [text]) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decode(equals === -1 ? pair : pair.slice(0, equals));
      const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
      if (name === undefined || value === undefined) {
        const shown = (name ?? pair).slice(0, 100);
        violations.push({ in: 'query', param: shown, code: 'invalid', message: 'Has an invalid percent-escape.' });
      } else if (!this.#store(values, name, value, positions)) {
        violations.push({ in: 'query', param: name, code: 'duplicate', message: 'Is given more than once.' });
      }
    }
  }

  /**
   * Returns the client's own query with semicolons encoded, and the contract's defaults for absent parameters, after a question mark. The
   * result may be empty.
   */
  search(query: string, values: Values): string {
    const text = this.#undeclared === 'drop' ? this.#withoutUndeclared(query) : query;
    if (text === '') return this.#allFallbacks;
    // Some servers split at semicolons and would find parameters that were not checked.
    let sent = text.includes(';') ? `?${text.replaceAll(';', '%3B')}` : `?${text}`;
    for (const fallback of this.#fallbacks) if (!(fallback.name in values)) sent += `&${fallback.text}`;
    return sent;
  }

  /** Returns the names of the parameters that `search` leaves out; undefined if there are none. */
  droppedNames(text: string): readonly string[] | undefined {
    if (this.#undeclared !== 'drop' || text === '') return undefined;
    const names = text.split('&').flatMap((pair) => (pair === '' ? [] : nameIn(pair)));
    const left = [...new Set(names.filter((name) => !this.#isDeclared(name)))];
    return left.length === 0 ? undefined : left.slice(0, DROPPED_MAX).map(notable);
  }

  /** Returns the exploded object parameter that a name is a member of. */
  #ownerOf(name: string): Parameter | undefined {
    return this.#spread.find(({ propertyTypes }) => propertyTypes.has(name)) ?? this.#spread.find(({ open }) => open);
  }

  /** Stores one pair. Returns false if the parameter already has a value. */
  #store(values: Values, name: string, text: string, positions: ItemPositions): boolean {
    const parameter = this.#declared.get(name);
    if (parameter?.allowsEmpty && text === '') return setOnce(values, parameter.name, text);
    if (parameter && !this.#spread.includes(parameter)) {
      return !parameter.json && parameter.types.has('array') && parameter.separator === undefined
        ? addTo(values, parameter, text)
        : setOnce(values, parameter.name, toValue(parameter, text));
    }
    const deep = this.#deepObjects.find((candidate) => name.startsWith(`${candidate.name}[`));
    const keys = deep && nestedKeysOf(name.slice(deep.name.length));
    if (deep && keys) return setNested(values, deep.name, keys, text, deep.shape, positions);
    const owner = this.#ownerOf(name);
    if (owner) return setOnce(objectIn(values, owner.name), name, toMember(owner, name, text));
    // The parameter is stored, so that the schema of the query refuses it.
    if (this.#undeclared === 'refuse') values[name] = text;
    return true;
  }

  #isDeclared(name: string): boolean {
    const deep = this.#deepObjects.find((candidate) => name.startsWith(`${candidate.name}[`));
    return (
      (this.#declared.has(name) && !this.#spread.some((parameter) => parameter.name === name)) ||
      (deep !== undefined && nestedKeysOf(name.slice(deep.name.length)) !== undefined) ||
      this.#ownerOf(name) !== undefined
    );
  }

  #withoutUndeclared(text: string): string {
    const kept = text.split('&').filter((pair) => this.#isDeclared(nameIn(pair)));
    return kept.join('&');
  }
}

function asItIs(text: string): string | undefined {
  return text;
}

function nameIn(pair: string): string {
  return decodeFormText(pair.split('=', 1)[0] as string) ?? '';
}

/**
 * Returns the name in a form that may be noted. The client chooses names, and notes are kept, so a text that does not look like a name is
 * replaced, because it may be a secret.
 */
function notable(name: string): string {
  return /^[A-Za-z_$][\w.$:-]{0,63}(?:\[[\w-]{0,64}\]){0,8}$/.test(name) && !name.includes('sk_') ? name : '*';
}

/** Whether the members of an object are separate parameters: `R=100&G=200`. */
function isSpread({ style, exploded, json, types }: Parameter): boolean {
  return (
    style === 'form' &&
    exploded &&
    !json &&
    types.has('object') &&
    [...types].every((type) => /^(object|null)$/.test(type))
  );
}

function setOnce(values: Values | undefined, name: string, value: unknown): boolean {
  if (values === undefined || name in values) return false;
  values[name] = value;
  return true;
}

function addTo(values: Values, { name, itemTypes }: Parameter, text: string): boolean {
  values[name] ??= [];
  const list = values[name];
  if (!Array.isArray(list)) return false;
  list.push(toScalar(text, itemTypes));
  return true;
}

/** Returns the object stored under a name; undefined if another kind of value is stored there. */
function objectIn(values: Values, name: string): Values | undefined {
  values[name] ??= withoutReference();
  return isRecord(values[name]) ? values[name] : undefined;
}

/** Returns the default of a parameter as a query string; empty if the default cannot be written as a query. */
function fallbackText({ name, fallback, separator, style }: Parameter): string {
  const items = Array.isArray(fallback) ? fallback : [fallback];
  if (style === 'deepObject' || !items.every(isScalar)) return '';
  if (separator !== undefined && items.length > 0) return encodePair(name, items.join(separator));
  return items.map((item) => encodePair(name, item)).join('&');
}

function encodePair(name: string, value: unknown): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
