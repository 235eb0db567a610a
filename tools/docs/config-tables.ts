// The tables of docs/config.md, made from the schemas that check the configuration: key, default, values, meaning.

import type { z } from 'zod';
import {
  alertSettings,
  emailSettings,
  quietWindow,
  receiverSettings,
  webhookSettings,
} from '../../gateway/alerts/settings.ts';
import { acme } from '../../gateway/config/gateway/acme.ts';
import { gatewayFile } from '../../gateway/config/gateway/gateway-file.ts';
import { certificate, tls } from '../../gateway/config/gateway/tls.ts';
import { tracing } from '../../gateway/config/gateway/tracing.ts';
import { breaking } from '../../gateway/config/upstreams/breaking.ts';
import { compressionRules } from '../../gateway/config/upstreams/compression.ts';
import { breakerRules, ejectionRules, health } from '../../gateway/config/upstreams/targets.ts';
import { tunnel } from '../../gateway/config/upstreams/tunnels.ts';
import { upstreamTls } from '../../gateway/config/upstreams/upstream-tls.ts';
import { upstreamEntry } from '../../gateway/config/upstreams/upstreams-file.ts';
import { limitsFile } from '../../gateway/limits/settings.ts';
import { table } from './table.ts';

/** The facts of a schema about a key besides its shape. */
interface Told {
  readonly description?: string | undefined;
  /** The values in words, where the shape does not give them. */
  readonly values?: string | undefined;
  /** The default in words, where another part of the gateway applies it. */
  readonly fallback?: string | undefined;
  /** The contract member of the same meaning. */
  readonly contractMember?: string | undefined;
}

interface ConfigKey extends Told {
  /** Dotted path. */
  readonly name: string;
  /** Without a default: an empty text if the key is optional. */
  readonly fallback: string;
  readonly values: string;
}

/** The part of zod's schema objects that is read here. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly valueType?: z.ZodType;
  readonly defaultValue?: unknown;
  readonly entries?: Readonly<Record<string, string>>;
}

const REQUIRED = 'required';
const OPTIONAL = Symbol('optional');
const definitionOf = (schema: z.ZodType) => schema._zod.def as unknown as Definition;

/** Returns every key of a schema. Blocks that may be left out are one key; the keys of others have dotted names. */
export function keysOf(schema: z.ZodType, prefix = ''): ConfigKey[] {
  return keysBelow(schema, prefix, undefined, {});
}

function keysBelow(schema: z.ZodType, path: string, given: unknown, told: Told): ConfigKey[] {
  const definition = definitionOf(schema);
  const { type, innerType, in: input, shape, defaultValue } = definition;
  const here = { ...schema.meta(), ...told };
  if (type === 'default' || type === 'prefault') return keysBelow(innerType as z.ZodType, path, defaultValue, here);
  if (type === 'optional') return keysBelow(innerType as z.ZodType, path, OPTIONAL, here);
  if (input) return keysBelow(input, path, given, here);
  if (shape && given !== OPTIONAL)
    return Object.entries(shape).flatMap(([name, below]) =>
      keysBelow(below, path === '' ? name : `${path}.${name}`, (given as Record<string, unknown>)?.[name], {}),
    );
  const { description, values = valuesOf(schema, definition), fallback = written(given), contractMember } = here;
  if (description === undefined || values === undefined) throw new Error(`${path} needs a description and values.`);
  return [{ name: path, description, values, fallback, contractMember }];
}

function written(value: unknown): string {
  if (value === OPTIONAL) return '';
  if (value === undefined) return REQUIRED;
  if (Array.isArray(value)) return `\`[${value.map((item) => (item === '*' ? "'*'" : item)).join(', ')}]\``;
  return `\`${typeof value === 'object' ? JSON.stringify(value) : String(value)}\``;
}

function valuesOf(schema: z.ZodType, { type, entries, element }: Definition): string | undefined {
  if (type === 'number') {
    const { minValue, maxValue } = schema as z.ZodNumber;
    return `${minValue}–${maxValue}`;
  }
  if (type === 'object') return 'block, see below';
  if (type === 'boolean') return '`true`, `false`';
  if (type === 'array' && element) return valuesOf(element, definitionOf(element));
  return entries && codes(Object.keys(entries));
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

/** Returns the schema that all members of a record have. */
function memberOf(schema: z.ZodType): z.ZodType {
  const { innerType, valueType } = definitionOf(schema);
  return valueType ?? memberOf(innerType as z.ZodType);
}

function tableOf(head: string, keys: readonly ConfigKey[]): string {
  return table(
    [head, 'Default', 'Values', 'Meaning'],
    keys.map(({ name, fallback, values, description = '' }) => [`\`${name}\``, fallback, values, description]),
  );
}

/** The tables by the name of their place in docs/config.md. */
export function configTables(): Record<string, string> {
  const { issuers, cors, versions, operations } = gatewayFile.shape;
  const entry = keysOf(upstreamEntry);
  const ofContracts = entry.filter(({ contractMember }) => contractMember !== undefined);
  const membersOf = (record: z.ZodType, prefix: string) => tableOf('Key', keysOf(memberOf(record), prefix));
  return {
    'gateway.yaml': tableOf('Key', keysOf(gatewayFile)),
    issuers: membersOf(issuers, 'issuers.<name>'),
    versions: membersOf(versions, 'versions.<version>'),
    operations: membersOf(operations, 'operations.<id>'),
    cors: membersOf(cors, 'cors.<host>'),
    tls: tableOf('Key of `tls`', [...keysOf(tls), ...keysOf(tls.shape.plain.unwrap(), 'plain')]),
    acme: tableOf('Key of `tls.acme`', keysOf(acme)),
    certificates: tableOf('Key of a certificate', keysOf(certificate)),
    tracing: tableOf('Key of `tracing`', keysOf(tracing)),
    alerts: tableOf('Key of `alerts`', keysOf(alertSettings)),
    receiver: tableOf('Key of a receiver', [
      ...keysOf(receiverSettings).filter(({ values }) => values !== 'block, see below'),
      ...keysOf(webhookSettings, 'webhook'),
      ...keysOf(emailSettings, 'email'),
    ]),
    silence: tableOf('Key of a window', keysOf(quietWindow)),
    breaking: tableOf('Key of a decision', keysOf(breaking.element)),
    upstream: tableOf(
      'Key of an upstream',
      entry.filter((key) => !ofContracts.includes(key)),
    ),
    ejection: tableOf('Key of `ejection`', keysOf(ejectionRules)),
    breaker: tableOf('Key of `breaker`', keysOf(breakerRules)),
    compression: tableOf('Key of `compression`', keysOf(compressionRules)),
    health: tableOf('Key of `health`', keysOf(health)),
    'upstream tls': tableOf('Key of `tls`', keysOf(upstreamTls)),
    'upstream operations': membersOf(upstreamEntry.shape.operations, '<operationId>'),
    tunnel: tableOf('Key of a tunnel', keysOf(tunnel)),
    'contract members': table(
      ['Key of an upstream', 'Member of a contract', 'Default', 'Values', 'Meaning'],
      ofContracts.map(({ name, contractMember = '', fallback, values, description = '' }) => [
        `\`${name}\``,
        `\`${contractMember}\``,
        fallback,
        values,
        description,
      ]),
    ),
    'limits.yaml': tableOf('Key', [
      ...keysOf(limitsFile),
      ...keysOf(memberOf(limitsFile.shape.operations), 'operations.<id>'),
    ]),
    limit: tableOf('Key of a limit', [
      ...keysOf(memberOf(limitsFile.shape.extra)),
      ...keysOf(memberOf(limitsFile.shape.tiers)).filter(({ name }) => name === 'openStreams'),
    ]),
  };
}
