// Creates JSON Schemas of the three configuration files for editors, from the schemas that check the files. These schemas accept more than
// the gateway where a JSON Schema cannot express a rule; `check` decides.

import { z } from 'zod';
import { limitsFile } from '../limits/settings.ts';
import { gatewayFile } from './gateway/gateway-file.ts';
import { upstreamsFile } from './upstreams/upstreams-file.ts';

export type ConfigFile = 'gateway' | 'upstreams' | 'limits';

const FILE_SCHEMAS: Readonly<Record<ConfigFile, z.ZodType>> = {
  gateway: gatewayFile,
  upstreams: upstreamsFile,
  limits: limitsFile,
};
export const CONFIG_FILE_NAMES = Object.keys(FILE_SCHEMAS) as readonly ConfigFile[];

/** A JSON Schema, or a part of one. */
interface Node {
  description?: string;
  type?: unknown;
  pattern?: string;
  enum?: unknown;
  const?: unknown;
  anyOf?: Node[];
  oneOf?: Node[];
  items?: Node;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  // Two columns of the tables in docs/config.md.
  values?: string;
  fallback?: string;
  contractMember?: string;
}

/** Any value may refer to an environment variable, whose value is known only where the gateway starts. */
const VARIABLE = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' };

/** Returns the schema of one file as text. It is a JSON Schema (draft 2020-12) of the input, in which keys with defaults are optional. */
export function editorSchemaOf(file: ConfigFile): string {
  const schema = z.toJSONSchema(FILE_SCHEMAS[file], { io: 'input', unrepresentable: 'any' }) as Node;
  const { $schema, ...shape } = withVariables(schema) as Node & { $schema: string };
  // Every key of gateway.yaml has a default, so the file may be empty.
  const type = file === 'gateway' ? ['object', 'null'] : 'object';
  return `${JSON.stringify({ $schema, title: `config/${file}.yaml`, ...shape, type }, null, 2)}\n`;
}

function withVariables(node: Node): Node {
  const { values, fallback, contractMember, ...made } = node;
  if (made.description !== undefined) made.description = withoutLinks(made.description);
  if (node.anyOf) made.anyOf = node.anyOf.map(withVariables);
  if (node.oneOf) made.oneOf = node.oneOf.map(withVariables);
  if (node.items) made.items = withVariables(node.items);
  if (typeof node.additionalProperties === 'object')
    made.additionalProperties = withVariables(node.additionalProperties);
  if (node.properties)
    made.properties = Object.fromEntries(
      Object.entries(node.properties).map(([name, below]) => [name, withVariables(below)]),
    );
  return refusesTexts(node) ? orVariable(made) : made;
}

/** Replaces a link such as `[limits](limits.md#windows)` by `see docs/limits.md`, because editors cannot follow it. */
function withoutLinks(text: string): string {
  return text.replace(/\[[^\]]+\]\(([\w-]+\.md)[^)]*\)/g, 'see docs/$1');
}

/** Returns whether the schema is of a single value and does not accept every text. */
function refusesTexts({ type, pattern, enum: choices, const: only }: Node): boolean {
  const isText = type === 'string' && pattern === undefined && choices === undefined && only === undefined;
  return ['integer', 'number', 'boolean', 'string'].includes(String(type)) && !isText;
}

function orVariable({ description, ...rest }: Node & { default?: unknown }): Node {
  const { default: fallback, ...value } = rest;
  return {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    anyOf: [value, VARIABLE],
  };
}
