// Chooses among the declared answers of an operation. The request header Prefer decides (RFC 7240), otherwise values of parameters that the
// contract documents as examples, otherwise the usual answer is chosen.

import type { ContractOperation } from '../operations/operations.ts';
import { isRecord, member, memberNames } from '../pointer.ts';
import {
  contentOf,
  type DeclaredAnswer,
  declaredAnswer,
  statusesOf,
  statusIn,
  usualAnswer,
  writtenExamples,
} from './declared.ts';

interface Wish {
  readonly code?: string | undefined;
  /** Name of an example of an answer. */
  readonly example?: string | undefined;
}

export interface Choice {
  readonly answer: DeclaredAnswer;
  /** Name of the example that was asked for. */
  readonly example: string | undefined;
  /** The preferences for Preference-Applied. */
  readonly applied: readonly string[];
}

/** Finds the values of parameters. */
export interface RequestParameters {
  /** Returns the values in the request, as text; empty if the parameter is absent. */
  of(place: unknown, name: string): readonly string[];
}

/** Chooses an answer; undefined if the operation declares none. Ignores preferences that it cannot fulfil (RFC 7240 section 2). */
export function chooseAnswer(entry: ContractOperation, wish: Wish, values: RequestParameters): Choice | undefined {
  const byPreference = fulfil(entry, wish);
  if (byPreference !== undefined) {
    const { answer, example } = byPreference;
    const code = wish.code === String(answer.status) ? [`code=${wish.code}`] : [];
    return { answer, example, applied: [...code, ...(example === undefined ? [] : [`example=${example}`])] };
  }
  for (const name of namesOfValues(entry, values)) {
    const found = /^[2-5]\d\d$/.test(name) ? fulfil(entry, { code: name }) : fulfil(entry, { example: name });
    if (found !== undefined) return { ...found, applied: [] };
  }
  const answer = usualAnswer(entry);
  return answer && { answer, example: undefined, applied: [] };
}

type FulfilledChoice = Pick<Choice, 'answer' | 'example'>;

function fulfil(entry: ContractOperation, { code, example }: Wish): FulfilledChoice | undefined {
  const answer = code !== undefined && /^\d{3}$/.test(code) ? declaredAnswer(entry, Number(code)) : undefined;
  if (example === undefined) return answer && { answer, example: undefined };
  if (answer !== undefined) return { answer, example: hasExample(answer, example) ? example : undefined };
  return withExample(entry, example);
}

/** Returns the first answer with an example of this name, beginning with the usual answer. */
function withExample(entry: ContractOperation, example: string): FulfilledChoice | undefined {
  const usual = usualAnswer(entry);
  const others = statusesOf(entry).map((status) => declaredAnswer(entry, status));
  const answer = [usual, ...others].find((one) => one !== undefined && hasExample(one, example));
  if (answer === undefined) return undefined;
  const status = answer.isExact ? undefined : statusIn(exampleNamed(answer, example));
  return { answer: status === undefined ? answer : { ...answer, status }, example };
}

function hasExample(answer: DeclaredAnswer, example: string): boolean {
  return exampleNamed(answer, example) !== undefined;
}

function exampleNamed(answer: DeclaredAnswer, example: string): unknown {
  const { root } = answer.entry.document;
  const all = [...contentOf(answer).values()].flatMap((mediaType) => writtenExamples(root, mediaType));
  return all.find(({ name }) => name === example)?.value;
}

/** Yields the names of the parameter examples whose values this request has. */
function* namesOfValues(entry: ContractOperation, values: RequestParameters): Generator<string> {
  const { root } = entry.document;
  for (const parameter of entry.parameters) {
    const { name, in: place } = parameter.value as { name: string; in: unknown };
    const examples = member(root, parameter, 'examples');
    for (const example of memberNames(examples)) {
      const written = member(root, examples, example).value;
      const value = isRecord(written) ? written.value : undefined;
      if (value !== undefined && values.of(place, name).includes(String(value))) yield example;
    }
  }
}

/** Reads the preferences `code` and `example` of a Prefer header. The first preference of a name is used (RFC 7240 section 2). */
export function readPrefer(header: string | undefined): Wish {
  const preferences = (header ?? '').match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? [];
  const preferred = (wanted: string) => {
    for (const preference of preferences) {
      const [, name = '', quoted, token] =
        /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+)))?\s*(?:;|$)/.exec(preference) ?? [];
      if (name.toLowerCase() === wanted) return quoted?.replace(/\\(.)/g, '$1') ?? token;
    }
    return undefined;
  };
  return { code: preferred('code'), example: preferred('example') };
}
