// Makes the request of an operation from its arguments. All mistakes are listed, like the violations of a request that came over HTTP.

import type { ArgumentValues, ToolRequest } from '../../shared/contracts/tool-source.ts';
import type { ContractOperation } from '../operations/operations.ts';
import type { Parameter } from '../parameters/parameter.ts';
import { escapeToken, isRecord, type JsonObject } from '../pointer.ts';
import type { Violation } from '../violations/violations.ts';
import type { Argument, BodyArgument, OperationArguments } from './arguments.ts';
import {
  isUnwritable,
  type Unwritable,
  type WrittenValue,
  writtenCookie,
  writtenHeader,
  writtenPath,
  writtenQuery,
} from './written-values.ts';

/** Stands for a value that cannot be written. */
const UNKNOWN = '-';

type Place = Violation['in'];

export function createRequestWriter(
  { operation }: ContractOperation,
  { parameters, body, idempotencyKey }: OperationArguments,
) {
  const known = new Set([...parameters.map(({ name }) => name), body?.name, idempotencyKey]);
  const ofPlace = (place: Place) => parameters.filter(({ parameter }) => parameter.place === place);
  const [paths, queries] = [ofPlace('path'), ofPlace('query')];
  const [headers, cookies] = [ofPlace('header'), ofPlace('cookie')];

  return function write({ values, textOf }: ArgumentValues): ToolRequest {
    const violations: Violation[] = [];
    const givenValue = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);

    function writtenValue(
      argument: Argument,
      write: (parameter: Parameter, value: unknown) => WrittenValue,
    ): string | undefined {
      const value = givenValue(argument.name);
      if (value === undefined) return undefined;
      const text = write(argument.parameter, value);
      if (!isUnwritable(text)) return text.text;
      violations.push(violationAt(argument.parameter, text));
      return undefined;
    }

    for (const name of Object.keys(values)) {
      if (!known.has(name))
        violations.push({ in: 'body', param: name, pointer: `/${escapeToken(name)}`, ...UNKNOWN_NAME });
    }
    const texts = new Map<string, string>();
    for (const argument of paths) {
      const { name } = argument.parameter;
      const text = writtenValue(argument, (parameter, value) =>
        writtenPath(parameter, value, operation.restOfPath === name),
      );
      if (givenValue(argument.name) === undefined) violations.push({ in: 'path', param: name, ...MISSING });
      texts.set(name, text ?? UNKNOWN);
    }
    const path = operation.path.replace(/\{([^{}]*)\}/g, (_, name: string) => texts.get(name) ?? UNKNOWN);
    const pairs = queries.flatMap((argument) => writtenValue(argument, writtenQuery) || []);
    const fields = headers.flatMap((argument): [string, string][] => {
      const text = writtenValue(argument, writtenHeader);
      return text === undefined ? [] : [[argument.parameter.name.toLowerCase(), text]];
    });
    const crumbs = cookies.flatMap((argument) => {
      const text = writtenValue(argument, writtenCookie);
      return text === undefined ? [] : `${argument.parameter.name}=${text}`;
    });
    if (crumbs.length > 0) fields.push(['cookie', crumbs.join('; ')]);
    const content =
      body && givenValue(body.name) !== undefined ? bodyOf(body, givenValue(body.name), textOf, violations) : undefined;
    if (body && content !== undefined) fields.push(['content-type', body.mediaType]);
    const key = idempotencyKey === undefined ? undefined : givenValue(idempotencyKey);
    if (key !== undefined && typeof key !== 'string')
      violations.push({ in: 'header', param: 'idempotency-key', code: 'wrong_type', message: 'Must be a text.' });
    return {
      method: operation.method,
      target: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`,
      headers: fields,
      body: content,
      idempotencyKey: typeof key === 'string' ? key : undefined,
      violations,
    };
  };
}

const UNKNOWN_NAME = { code: 'unknown', message: 'Is not known here.' } as const;
const MISSING = { code: 'required', message: 'Is required.' } as const;

function violationAt({ place, name }: Parameter, { code, message }: Unwritable): Violation {
  return { in: place, param: name, code, message };
}

function bodyOf(
  { name, kind, fields }: BodyArgument,
  value: unknown,
  textOf: ArgumentValues['textOf'],
  violations: Violation[],
): Buffer | undefined {
  if (kind === 'json') return Buffer.from(textOf(name));
  if (kind === 'text') {
    if (typeof value === 'string') return Buffer.from(value.toWellFormed());
    violations.push({ in: 'body', param: '', pointer: '', code: 'wrong_type', message: 'Must be a text.' });
    return undefined;
  }
  if (isRecord(value)) return formOf(value, fields, violations);
  violations.push({ in: 'body', param: '', pointer: '', code: 'wrong_type', message: 'Must be an object.' });
  return undefined;
}

function formOf(value: JsonObject, fields: ReadonlyMap<string, Parameter>, violations: Violation[]): Buffer {
  const pairs = Object.entries(value).flatMap(([name, item]) => {
    const text = writtenQuery(fields.get(name) ?? undeclaredField(name, item), item);
    if (!isUnwritable(text)) return text.text === '' ? [] : text.text;
    violations.push({ in: 'body', param: name, pointer: `/${escapeToken(name)}`, ...text });
    return [];
  });
  return Buffer.from(pairs.join('&'));
}

function undeclaredField(name: string, value: unknown): Parameter {
  return {
    ...{
      name,
      place: 'query',
      exploded: true,
      separator: undefined,
      json: false,
      allowsEmpty: true,
      fallback: undefined,
    },
    ...{
      types: new Set<string>(),
      itemTypes: new Set<string>(),
      propertyTypes: new Map(),
      open: true,
      forms: [],
      root: {},
    },
    style: isRecord(value) ? 'deepObject' : 'form',
  };
}
