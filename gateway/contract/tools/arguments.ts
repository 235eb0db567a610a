// Defines the arguments of an operation that is called as a tool, by their names for the client, and by the parts of a request that they
// become.

import { isOwnedRequestHeader } from '../../shared/http/owned-headers.ts';
import { isJson, mediaTypeOf, URLENCODED } from '../media-types.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { templateParameters } from '../operations/routes.ts';
import { type Parameter, toParameter } from '../parameters/parameter.ts';
import { parameterSchema } from '../parameters/value-types.ts';
import { child, isRecord, type LocatedValue, member, memberNames } from '../pointer.ts';

interface ToolArgument {
  /** The name of the argument for the client. */
  readonly name: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
  readonly schema: LocatedValue | undefined;
}

export interface Argument extends ToolArgument {
  readonly parameter: Parameter;
}

export interface BodyArgument extends ToolArgument {
  readonly mediaType: string;
  readonly kind: 'json' | 'form' | 'text';
  /** The styles of the fields of a form. */
  readonly fields: ReadonlyMap<string, Parameter>;
}

export interface OperationArguments {
  readonly parameters: readonly Argument[];
  readonly body: BodyArgument | undefined;
  /** The name of the argument for the Idempotency-Key; undefined if the operation takes no key. */
  readonly idempotencyKey: string | undefined;
  /** Why the operation cannot be called in this way; undefined if it can. */
  readonly obstacle?: string;
}

/** Characters and length that every model's interface takes in names of arguments. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const IDEMPOTENCY_KEY = 'idempotency_key';
/** Fields of one message or connection that `isOwnedRequestHeader` leaves to others. */
const FRAMING = /^(?:content-.*|range|if-range|idempotency-key|accept.*|origin|user-agent)$/;

export function argumentsOf(entry: ContractOperation): OperationArguments {
  const { root } = entry.document;
  const taken = new Set<string>();
  const declared = entry.parameters.map((located) => ({ located, parameter: toParameter(root, located) }));
  const inTemplate = templateParameters(entry.operation.path);
  const usable = declared.filter(({ parameter }) => isUsable(parameter, inTemplate));
  const parameters = usable.map(({ located, parameter }) => ({
    name: freeName(parameter.name, parameter.place, taken),
    isRequired: parameter.place === 'path' || (isRecord(located.value) && located.value.required === true),
    description: descriptionOf(located),
    schema: parameterSchema(root, located),
    parameter,
  }));
  const { body, obstacle } = bodyOf(entry, taken);
  const idempotencyKey = entry.operation.idempotency === 'off' ? undefined : freeName(IDEMPOTENCY_KEY, 'call', taken);
  return { parameters, body, idempotencyKey, ...obstacleOf(entry, declared, inTemplate, obstacle) };
}

/**
 * Returns why the operation cannot be called, because the document does not declare a path parameter, or because only the gateway sends a
 * required header.
 */
function obstacleOf(
  { operation }: ContractOperation,
  declared: readonly { readonly located: LocatedValue; readonly parameter: Parameter }[],
  inTemplate: readonly string[],
  ofBody: string | undefined,
): { readonly obstacle?: string } {
  if (ofBody !== undefined) return { obstacle: ofBody };
  if (operation.webSocket) return { obstacle: 'it opens a WebSocket' };
  const paths = new Set(
    declared.filter(({ parameter }) => parameter.place === 'path').map(({ parameter }) => parameter.name),
  );
  const missing = inTemplate.find((name) => !paths.has(name));
  return missing === undefined ? {} : { obstacle: `its path parameter ${missing} is not declared` };
}

function isUsable({ place, name }: Parameter, inTemplate: readonly string[]): boolean {
  if (place === 'path') return inTemplate.includes(name);
  const field = name.toLowerCase();
  return place !== 'header' || !(isOwnedRequestHeader(field) || FRAMING.test(field));
}

/** Returns the body that becomes an argument: JSON if possible, otherwise a form, otherwise text. Other bodies cannot be arguments. */
function bodyOf(
  { document: { root }, located }: ContractOperation,
  taken: Set<string>,
): { readonly body: BodyArgument | undefined; readonly obstacle?: string } {
  const requestBody = member(root, located, 'requestBody');
  const content = member(root, requestBody, 'content');
  const types = memberNames(content);
  const isRequired = isRecord(requestBody.value) && requestBody.value.required === true;
  const [type, kind] = chosenOf(types);
  if (type === undefined) {
    if (!isRequired || types.length === 0) return { body: undefined };
    return { body: undefined, obstacle: `its body is ${types.join(' or ')}, which arguments cannot hold` };
  }
  const mediaType = member(root, content, type);
  return {
    body: {
      name: freeName('body', 'request', taken),
      isRequired,
      description: descriptionOf(requestBody),
      schema: child(mediaType, 'schema').value === undefined ? undefined : child(mediaType, 'schema'),
      mediaType: type.includes('*') ? 'application/json' : mediaTypeOf(type),
      kind,
      fields: kind === 'form' ? fieldsOf(root, mediaType) : new Map(),
    },
  };
}

function chosenOf(types: readonly string[]): readonly [string | undefined, BodyArgument['kind']] {
  const json =
    types.find((type) => isJson(mediaTypeOf(type))) ?? types.find((type) => /^(?:\*|application)\/\*$/.test(type));
  if (json !== undefined) return [json, 'json'];
  const form = types.find((type) => mediaTypeOf(type) === URLENCODED);
  if (form !== undefined) return [form, 'form'];
  return [types.find((type) => mediaTypeOf(type).startsWith('text/') && !type.includes('*')), 'text'];
}

/** Returns the fields of a form. They are written like parameters of a query (OpenAPI 3.1.1, section 4.8.15). */
function fieldsOf(
  root: ContractOperation['document']['root'],
  mediaType: LocatedValue,
): ReadonlyMap<string, Parameter> {
  const schema = member(root, mediaType, 'schema');
  const properties = child(schema, 'properties');
  const encoding = member(root, mediaType, 'encoding');
  return new Map(
    memberNames(properties).map((name) => {
      const { value } = member(root, encoding, name);
      const { style, explode, contentType } = isRecord(value) ? value : {};
      const isOfJson = typeof contentType === 'string' && isJson(contentType);
      const located = child(properties, name);
      const declared = isOfJson
        ? { name, in: 'query', content: { 'application/json': { schema: located.value } } }
        : { name, in: 'query', schema: located.value, style: style ?? styleOf(root, located), explode };
      return [name, toParameter(root, { value: declared, pointer: located.pointer })] as const;
    }),
  );
}

/** Returns the style of an object. Without an encoding, services read its members from `name[member]`. */
function styleOf(root: ContractOperation['document']['root'], schema: LocatedValue): string | undefined {
  return memberNames(member(root, schema, 'properties')).length > 0 ? 'deepObject' : undefined;
}

function descriptionOf({ value }: LocatedValue): string | undefined {
  return isRecord(value) && typeof value.description === 'string' ? value.description : undefined;
}

function freeName(wanted: string, place: string, taken: Set<string>): string {
  const plain = NAME.test(wanted)
    ? wanted
    : wanted
        .replace(/[^A-Za-z0-9_.-]+/g, '_')
        .replace(/^_+|_+$/g, '')
        .slice(0, 56) || place;
  let name = plain;
  if (taken.has(name)) name = `${plain}_${place}`;
  for (let number = 2; taken.has(name); number += 1) name = `${plain}_${number}`;
  taken.add(name);
  return name;
}
