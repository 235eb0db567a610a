// Answers the requests for an upstream from its contract.

import { preferredType } from '../accept.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { createRoutes, segmentsOf, templateParameters } from '../operations/routes.ts';
import type { Schemas } from '../schemas/schemas.ts';
import { concreteType, printBody } from './bodies.ts';
import { type Choice, chooseAnswer, type RequestParameters, readPrefer } from './choose.ts';
import { answerSchema, contentOf, type DeclaredAnswer } from './declared.ts';
import { headersFor } from './headers.ts';
import { type MadeValue, type ValueOptions, valueFor } from './values.ts';

/** The request, in the form in which the gateway would send it to a service. */
interface ExampleRequest {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  /** Flat, lower-case names. */
  readonly headers: readonly string[];
}

interface ExampleAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Values that are made once. The operations of an unchanged document keep their values over a reload. */
export type MadeValues = WeakMap<ContractOperation, Map<string, MadeValue | undefined>>;

/** Answers a request for an operation of one upstream. */
export type AnswerExample = (request: ExampleRequest) => ExampleAnswer;

interface ExampleAnswersOptions {
  /** The operations of one upstream. */
  readonly operations: readonly ContractOperation[];
  readonly schemas: Schemas;
  readonly made: MadeValues;
  /** Called if no valid answer could be made. */
  onUnavailable(operation: string, status: number): void;
}

/** The status of the answer if no valid answer can be made from the contract. The gateway does not retry a request after 501. */
const UNAVAILABLE = 501;

export function createExampleAnswers(options: ExampleAnswersOptions): AnswerExample {
  const { schemas, made } = options;
  const entries = new Map(options.operations.map((entry) => [entry.operation.id, entry]));
  const routes = createRoutes(
    options.operations.map(({ operation }) => {
      const { path, publicPrefix, upstreamPrefix } = operation;
      return { ...operation, path: upstreamPrefix + path.slice(publicPrefix.length) };
    }),
  );

  return function answerTo(request) {
    const [path = '', query = ''] = request.path.split(/\?(.*)/s);
    const found = routes.find(request.method, segmentsOf(path));
    const entry = found && entries.get(found.operation.id);
    if (entry === undefined) return { status: 404, headers: { 'content-length': '0' }, body: Buffer.alloc(0) };
    const header = (wanted: string) => headerIn(request.headers, wanted);
    const values = parameterValues(found?.values ?? [], entry, query, header);
    const choice = chooseAnswer(entry, readPrefer(header('prefer')), values);
    const answer = choice && give(choice, path, header('accept'));
    if (answer !== undefined) return answer;
    options.onUnavailable(entry.operation.id, choice?.answer.status ?? 0);
    return { status: UNAVAILABLE, headers: { 'content-length': '0' }, body: Buffer.alloc(0) };
  };

  function give({ answer, example, applied }: Choice, path: string, accept: string | undefined) {
    const { status } = answer;
    const preference: Record<string, string> = applied.length > 0 ? { 'preference-applied': applied.join(', ') } : {};
    const content = status === 204 || status === 304 ? new Map<string, never>() : contentOf(answer);
    const type = preferredType(accept, typesFor(content, example));
    const body = type === undefined ? { value: undefined } : valueOnce(answer, type, example);
    if (body === undefined) return undefined;
    const bytes =
      type === undefined ? Buffer.alloc(0) : printBody(concreteType(type), body.value, schemaAt(answer, type));
    const declared = headersFor({ answer, path, value: body.value });
    const headers = Object.entries(declared).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const typed = type === undefined ? {} : { 'content-type': concreteType(type) };
    const framing = { 'content-length': String(bytes.length) };
    return { status, headers: { ...Object.fromEntries(headers), ...typed, ...framing, ...preference }, body: bytes };
  }

  function valueOnce(answer: DeclaredAnswer, type: string, example: string | undefined): MadeValue | undefined {
    const { entry, status } = answer;
    const known = made.get(entry) ?? new Map<string, MadeValue | undefined>();
    made.set(entry, known);
    const key = `${status} ${type} ${example ?? ''}`;
    if (known.has(key)) return known.get(key);
    const value = valueOrNone({ answer, type, mediaType: contentOf(answer).get(type) as never, example, schemas });
    known.set(key, value);
    return value;
  }
}

/** Returns a valid value; undefined if there is no valid value, or if the schema does not compile. */
export function valueOrNone(options: ValueOptions): MadeValue | undefined {
  try {
    return valueFor(options);
  } catch {
    return undefined;
  }
}

/** Returns the media types. If only one of them has the named example, returns only this type. */
function typesFor(content: ReadonlyMap<string, { readonly value: unknown }>, example: string | undefined): string[] {
  const types = [...content.keys()];
  if (example === undefined) return types;
  const having = types.filter((type) => {
    const { examples } = (content.get(type)?.value ?? {}) as { examples?: object };
    return examples !== undefined && Object.hasOwn(examples, example);
  });
  return having.length > 0 ? having : types;
}

function schemaAt(answer: DeclaredAnswer, type: string): unknown {
  const mediaType = contentOf(answer).get(type);
  return mediaType && answerSchema(mediaType)?.value;
}

function headerIn(headers: readonly string[], wanted: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === wanted) return headers[at + 1];
  return undefined;
}

function parameterValues(
  pathValues: readonly string[],
  { operation }: ContractOperation,
  query: string,
  header: (name: string) => string | undefined,
): RequestParameters {
  const names = templateParameters(operation.path);
  const search = new URLSearchParams(query);
  return {
    of(place, name) {
      if (place === 'query') return search.getAll(name);
      const value =
        place === 'path'
          ? pathValues[names.indexOf(name)]
          : place === 'header'
            ? header(name.toLowerCase())
            : undefined;
      return value === undefined ? [] : [value];
    },
  };
}
