// Says in plain words what is wrong with a value that has another form than OpenAPI wants, and how it is written.

import { closest, type Mistake } from '../../shared/mistakes.ts';
import { isRecord, objectAt, valueAt } from '../pointer.ts';
import { typeFor } from './type-words.ts';

/** What is wrong, and what to write instead. */
export type LintExplanation = Pick<Mistake, 'reason' | 'remedy'>;

/** A value at a place of a file. */
export interface FaultyValue {
  /** The name of the member, or the number of the item. */
  readonly name: string;
  readonly path: readonly string[];
  readonly value: unknown;
  /** The content of the file. */
  readonly root: unknown;
}

/** The objects and lists of OpenAPI by the linter's names, each in words and as it is written. */
const FORMS: Readonly<Record<string, readonly [what: string, form: string]>> = {
  Info: ['a block', 'info: { title: Items, version: "1.0.0" }'],
  ServerList: ['a list of servers', 'servers: [{ url: "https://api.example.com" }]'],
  Server: ['a server', '- url: https://api.example.com'],
  TagList: ['a list of tags', 'tags: [{ name: items }]'],
  Tag: ['a block with the name of the tag', '- name: items'],
  Paths: ['a block of paths', 'paths: { /items: { get: … } }, without dashes'],
  PathItem: ['a block of methods', '/items: { get: { responses: … } }'],
  Operation: ['an operation', 'get: { operationId: listItems, responses: … }'],
  ParameterList: ['a list of parameters', 'parameters: [{ name: limit, in: query, schema: { type: integer } }]'],
  Parameter: ['a parameter', '- { name: limit, in: query, schema: { type: integer } }'],
  RequestBody: ['a request body', 'requestBody: { content: { application/json: { schema: … } } }'],
  MediaTypesMap: ['a block of media types', 'content: { application/json: { schema: … } }'],
  MediaType: ['a block with a schema', 'application/json: { schema: … }'],
  Responses: ['a block of statuses', 'responses: { "200": { description: … } }, without dashes'],
  Response: ['a response', '"200": { description: … }'],
  HeadersMap: ['a block of headers', 'headers: { X-Total: { schema: { type: integer } } }'],
  Header: ['a header', 'X-Total: { schema: { type: integer } }'],
  SchemaProperties: ['a block of properties', 'properties: { name: { type: string } }, without dashes'],
  Schema: ['a schema', '{ type: string }, or { $ref: "#/components/schemas/Name" }'],
  OneOf: ['a list of schemas', 'oneOf: [{ $ref: "#/components/schemas/Name" }]'],
  AnyOf: ['a list of schemas', 'anyOf: [{ $ref: "#/components/schemas/Name" }]'],
  AllOf: ['a list of schemas', 'allOf: [{ $ref: "#/components/schemas/Name" }]'],
  Discriminator: ['a block', 'discriminator: { propertyName: kind }'],
  ExamplesMap: ['a block of examples by name', 'examples: { usual: { value: … } }'],
  Example: ['an example', 'usual: { value: … }'],
  SecurityRequirementList: ['a list', 'security: [{ apiKey: [] }], with a dash or brackets'],
  SecurityRequirement: ['a scheme with its list of scopes', '- apiKey: []'],
  SecurityScheme: ['a security scheme', 'apiKey: { type: http, scheme: bearer }'],
  Components: ['a block', 'components: { schemas: { Item: { type: object } } }'],
  object: ['a block of keys and values', 'key: value'],
  array: ['a list', '[a, b], or with a dash in front of each item'],
  string: ['a text', 'a text'],
  boolean: ['true or false', 'true or false'],
  number: ['a number', 'a number'],
  integer: ['a whole number', 'a whole number'],
};

const FOUND: Readonly<Record<string, string>> = {
  object: 'a block',
  array: 'a list',
  string: 'a text',
  null: 'nothing',
  integer: 'a number',
  number: 'a number',
  boolean: 'true or false',
};

/** Explains a value of another form than OpenAPI wants. @param message of the linter, which names both forms */
export function formExplanation(message: string, written: FaultyValue): LintExplanation | undefined {
  const [, wanted = '', kind, found = ''] = /^Expected type `(\w+)`(?: \((\w+)\))? but got `(\w+)`/.exec(message) ?? [];
  const [what, form] = FORMS[wanted] ?? FORMS[kind ?? ''] ?? [];
  if (what === undefined) return undefined;
  const special = SPECIAL_FORMS.map((explain) => explain(written, wanted)).find((one) => one !== undefined);
  if (special !== undefined) return special;
  const isDecimal = wanted === 'integer' && found === 'number';
  const reason = `${what} belongs here, not ${isDecimal ? 'a decimal' : (FOUND[found] ?? found)}.`;
  return { reason, remedy: `Write ${form === what ? form : `it as in ${form}`}.` };
}

/** Explanations for values that show what their author means; each returns undefined for other values. */
const SPECIAL_FORMS: readonly ((written: FaultyValue, wanted: string) => LintExplanation | undefined)[] = [
  ({ name, path, value }, wanted) =>
    name === 'required' && wanted === 'array' ? requiredInProperty(path, value) : undefined,
  ({ name, path, value, root }) =>
    /^exclusiveM(in|ax)imum$/.test(name) ? exclusiveBound(name, value, valueAt(root, path.slice(0, -1))) : undefined,
  (written, wanted) => (wanted === 'Schema' ? schemaExplanation(written) : undefined),
  ({ value }, wanted) =>
    typeof value === 'string' && /^-\S/.test(value) && /^array$|List$/.test(wanted)
      ? { reason: `"${value}" has a dash without a space after it.`, remedy: `Write - ${value.slice(1)}.` }
      : undefined,
  ({ name, value }, wanted) =>
    wanted === 'array' && ['string', 'number'].includes(typeof value)
      ? { reason: `${name} is a list.`, remedy: `Write ${name}: [${value}].` }
      : undefined,
  ({ path, name, value }, wanted) =>
    wanted === 'array' && value === null && path.includes('security')
      ? { reason: `the scopes of ${name} are a list.`, remedy: `Write ${name}: [] if it has none.` }
      : undefined,
  ({ value }, wanted) =>
    wanted === 'SecurityRequirement' && typeof value === 'string'
      ? { reason: `"${value}" lacks its list of scopes.`, remedy: `Write - ${value}: [] for no scope.` }
      : undefined,
  ({ name, value }, wanted) =>
    wanted === 'string' && value === null
      ? {
          reason: `${name} has no text. Outside quotes, # begins a comment.`,
          remedy: 'Write it in quotes, or remove it.',
        }
      : undefined,
  ({ name, value }, wanted) => plainValue(name, value, wanted),
  ({ name, value }, wanted) =>
    wanted === 'string' && ['number', 'boolean'].includes(typeof value)
      ? {
          reason: `${name} is a text, not ${typeof value === 'number' ? 'a number' : value}.`,
          remedy: 'Write it in quotes.',
        }
      : undefined,
];

/** Explains a text in quotes that means a number or a boolean, and the words yes and no, which are texts in YAML 1.2. */
function plainValue(name: string, value: unknown, wanted: string): LintExplanation | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (wanted === 'boolean' && /^(yes|no|on|off)$/i.test(text))
    return { reason: `${name} is true or false.`, remedy: `Write ${name}: ${/^(yes|on)$/i.test(text)}.` };
  const isNumber = /^(number|integer)$/.test(wanted) && text !== '' && Number.isFinite(Number(text));
  if (!isNumber && !(wanted === 'boolean' && /^(true|false)$/.test(text))) return undefined;
  return { reason: `${name} is not a text.`, remedy: `Write it without quotes: ${name}: ${text}.` };
}

/** Explains a value in place of a schema: a name of a schema or of a type, a reference without its key, or a list. */
function schemaExplanation({ name, value, root }: FaultyValue): LintExplanation | undefined {
  if (Array.isArray(value)) {
    const each = name === 'items' ? ' For a schema of each position, write prefixItems (from OpenAPI 3.1 on).' : '';
    return {
      reason: `${name} is one schema, not a list.`,
      remedy: `Write ${name}: { … }, without brackets or dash.${each}`,
    };
  }
  if (typeof value === 'boolean')
    return { reason: `OpenAPI 3.0 has no schema ${value}.`, remedy: `Write ${value ? '{}' : '{ not: {} }'}.` };
  if (typeof value !== 'string') return undefined;
  const reason = `a schema belongs here, not the text "${value}".`;
  if (/^(true|false)$/.test(value)) return { reason, remedy: `Write it without quotes: ${name}: ${value}.` };
  const schemas = isRecord(root) ? objectAt(root.components, 'schemas') : {};
  const type = typeFor(value);
  const near = Object.hasOwn(schemas, value) || type === undefined ? closest(value, Object.keys(schemas)) : undefined;
  if (value.includes('/') || near !== undefined)
    return {
      reason,
      remedy: `Write ${name}: { $ref: "${near === undefined ? value : `#/components/schemas/${near}`}" }.`,
    };
  return type === undefined ? undefined : { reason, remedy: `Write ${name}: { ${type} }.` };
}

/** Returns the mistake of a property that declares itself as required. Only its object can do so. */
function requiredInProperty(path: readonly string[], value: unknown): LintExplanation | undefined {
  if (!/^(true|false|yes|no)$/i.test(String(value))) return undefined;
  const reason = `required: ${value} has no meaning in a schema.`;
  if (/^(false|no)$/i.test(String(value)))
    return { reason, remedy: 'Remove it, because a property is optional unless its object names it in required.' };
  const name = path.at(-3) === 'properties' ? path.at(-2) : 'name';
  return { reason, remedy: `Write required: [${name}] beside the properties of the object.` };
}

/** Up to OpenAPI 3.0, an exclusive bound says that another bound is exclusive. From 3.1 on it is the bound itself. */
function exclusiveBound(name: string, value: unknown, schema: unknown): LintExplanation | undefined {
  const beside = name === 'exclusiveMinimum' ? 'minimum' : 'maximum';
  const bound = isRecord(schema) ? schema[beside] : undefined;
  if (typeof value === 'number')
    return {
      reason: `in OpenAPI 3.0, ${name} is true or false.`,
      remedy: `Write ${beside}: ${value} and ${name}: true, or begin the document with "openapi: 3.1.1".`,
    };
  if (typeof value !== 'boolean') return undefined;
  const instead =
    typeof bound === 'number' ? `Write ${name}: ${bound} in place of ${beside}: ${bound}.` : 'Write the bound itself.';
  return {
    reason: `from OpenAPI 3.1 on, ${name} is the bound itself.`,
    remedy: value ? instead : 'Remove it.',
  };
}
