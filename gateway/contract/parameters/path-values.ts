// Converts the texts of path parameters to values. Lists and objects are split before they are decoded, because an item may contain an
// encoded separator.

import type { Matched } from '../../exchange/exchange.ts';
import type { Operation } from '../../exchange/operation.ts';
import { isRecord } from '../../shared/is-record.ts';
import { templateParameters, valuesBetween } from '../operations/routes.ts';
import type { Violation } from '../violations/violations.ts';
import { type Parameter, toMember, toScalar, toValue, withoutReference } from './parameter.ts';
import { isKeyed, isListed } from './value-types.ts';

type ReadPath = (
  request: Pick<Matched, 'path' | 'pathValues'>,
  values: Record<string, unknown>,
  violations: Violation[],
) => void;

/** Returns undefined for a template without parameters. */
export function createPathReader(operation: Operation, declared: readonly Parameter[]): ReadPath | undefined {
  const byName = new Map(declared.map((parameter) => [parameter.name, parameter]));
  const parameters = templateParameters(operation.path).map((name) => ({ name, parameter: byName.get(name) }));
  if (parameters.length === 0) return undefined;
  const textsOf = operation.pathStyles.size > 0 ? createPathTexts(operation) : undefined;

  return function readPath({ path, pathValues }, values, violations) {
    const texts = textsOf?.(path);
    for (let index = 0; index < parameters.length; index += 1) {
      const { name, parameter } = parameters[index] as (typeof parameters)[number];
      const decoded = pathValues[index] as string;
      // The linter allows no undeclared parameter except the wildcard of Fastify, about which documents say nothing.
      if (parameter === undefined) continue;
      if (texts === undefined || !operation.pathStyles.has(name)) values[name] = toValue(parameter, decoded);
      else {
        const value = styledValue(parameter, texts[index] ?? encodeURIComponent(decoded));
        if (value === undefined) violations.push(misspelt(parameter));
        // The text is stored although it is not in the form of its style, because otherwise the schema would also refuse the parameter as
        // missing.
        values[name] = value ?? decoded;
      }
    }
  };
}

/** Returns the value of a text as the client wrote it; undefined if the text does not have the form of its style. */
function styledValue(parameter: Parameter, text: string): unknown {
  const parts = partsOf(parameter, text);
  if (parts === undefined) return undefined;
  if (isListed(parameter)) return parts.map((part) => toScalar(decodeURIComponent(part), parameter.itemTypes));
  if (isKeyed(parameter)) return toObject(parameter, parts);
  return toScalar(decodeURIComponent(parts.join(',')), parameter.types);
}

/** Returns the items, or the pairs of an exploded object, or the single text of a scalar. */
function partsOf(parameter: Parameter, text: string): string[] | undefined {
  const { style, separator = ',' } = parameter;
  const isSingle = !isListed(parameter) && !isKeyed(parameter);
  if (style === 'matrix') return matrixParts(parameter, text, isSingle);
  if (text.includes(';') || (style === 'label' && !text.startsWith('.'))) return undefined;
  const written = style === 'label' ? text.slice(1) : text;
  return isSingle ? [written] : split(written, separator);
}

/** `;name=a;name=b` or `;R=1;G=2` exploded, `;name=a,b` otherwise. */
function matrixParts(parameter: Parameter, text: string, isSingle: boolean): string[] | undefined {
  if (!text.startsWith(';')) return undefined;
  const pairs = text.slice(1).split(';');
  if (parameter.exploded && isKeyed(parameter)) return pairs;
  const values = pairs.map((pair) => valueIn(pair, parameter.name));
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length || (known.length > 1 && !(parameter.exploded && isListed(parameter))))
    return undefined;
  return isSingle || parameter.exploded ? known : split(known[0] as string, ',');
}

function valueIn(pair: string, name: string): string | undefined {
  const equals = pair.indexOf('=');
  const written = equals === -1 ? pair : pair.slice(0, equals);
  if (decodeURIComponent(written) !== name) return undefined;
  return equals === -1 ? '' : pair.slice(equals + 1);
}

function split(text: string, separator: string): string[] {
  return text === '' ? [] : text.split(separator);
}

/** Parses `R,100,G,200`, or pairs `R=100` if exploded. Returns undefined if a name has no value, or occurs twice. */
function toObject(parameter: Parameter, parts: readonly string[]): Record<string, unknown> | undefined {
  const value = withoutReference();
  for (let index = 0; index < parts.length; index += parameter.exploded ? 1 : 2) {
    const part = parts[index] as string;
    const equals = part.indexOf('=');
    const written = parameter.exploded ? part.slice(0, Math.max(equals, 0)) : part;
    const text = parameter.exploded ? part.slice(equals + 1) : parts[index + 1];
    if (text === undefined || written === '') return undefined;
    const name = decodeURIComponent(written);
    if (name in value) return undefined;
    value[name] = toMember(parameter, name, decodeURIComponent(text));
  }
  return value;
}

function misspelt(parameter: Parameter): Violation {
  const example = isListed(parameter) ? ['a', 'b'] : isKeyed(parameter) ? { a: 1, b: 2 } : 'a';
  const message = `Must be written in style ${parameter.style}, such as ${writtenPathValue(parameter, example)}.`;
  return { in: 'path', param: parameter.name, code: 'wrong_format', message };
}

/** Writes a value in the style of its parameter, not percent-encoded. */
export function writtenPathValue(parameter: Parameter, value: unknown): string {
  const { name, style, exploded, separator = ',' } = parameter;
  const isNamed = style === 'matrix' && !(exploded && isRecord(value));
  const start = style === 'label' ? '.' : isNamed ? `;${name}=` : style === 'matrix' ? ';' : '';
  if (isRecord(value)) {
    const pairs = Object.entries(value);
    return start + (exploded ? pairs.map((pair) => pair.join('=')).join(separator) : pairs.flat().join(','));
  }
  return start + [value].flat().join(isNamed && exploded ? start : separator);
}

/**
 * Prepares taking the texts of parameters out of a path as the client wrote it, so that separators can be told from encoded characters. The
 * texts are in the order of the template. A text is undefined if the literal text of its segment is not written as in the template.
 */
function createPathTexts({ path: template, restOfPath }: Operation): (path: string) => (string | undefined)[] {
  const segments = template.split('/').slice(1);
  const rest = segments.indexOf(`{${restOfPath}}`);

  return function textsOf(path) {
    const given = path.split('/').slice(1);
    const further = given.length - segments.length;
    return segments.flatMap((segment, index) => {
      if (!segment.includes('{')) return [];
      if (index === rest) return [given.slice(index, index + further + 1).join('/')];
      const text = given[rest === -1 || index < rest ? index : index + further] ?? '';
      const texts = segment.split(/\{[^{}]*\}/);
      return valuesBetween(texts, text) ?? templateParameters(segment).map(() => undefined);
    });
  };
}
