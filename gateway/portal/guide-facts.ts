// Collects the facts for the guides of the gateway, from the served contracts and the limits. Facts are names and values to insert, and
// also decide which parts of the guides apply.

import type { Publication } from '../shared/contracts/published-contract.ts';
import { isHealthPath } from '../shared/http/health-path.ts';
import { FURTHER_KEYS, firstKeyText } from './first-key.ts';
import type { HelpLinks } from './layout.ts';
import type { AddressedContract, OperationAddress } from './reference/addresses.ts';
import { viewOfOperation } from './reference/operation-view.ts';
import { type DocumentTools, listOf } from './reference/reference.ts';
import { sampleRequestOf } from './reference/sample-form.ts';

/** A key that no gateway accepts, for the example of a refusal. */
const BAD_KEY = 'sk_live_mistyped';

/** The facts by name. A part of a guide applies if its fact exists. */
export type GuideFacts = ReadonlyMap<string, string>;

export interface GuideSettings {
  readonly publicUrl: string;
  /** The limits of all tiers. The first tier is an example. */
  readonly tiers: readonly { readonly requests: number; readonly windowSeconds: number }[];
  readonly countPer: 'organization' | 'key';
  /** How long answers to writes are stored, in seconds. */
  readonly retainSeconds: number;
  readonly versions: readonly string[];
  readonly hasLimitsPage: boolean;
  /** Oldest first. */
  readonly publications: readonly Publication[];
  /** Whether the operations of an organization's own account are served at `publicUrl`. */
  readonly hasAccount: boolean;
  readonly help: HelpLinks;
}

export interface ChosenSample {
  readonly at: OperationAddress;
  readonly server: string;
}

/**
 * Returns the operation that the first page shows. This is the named operation if it needs no values, otherwise the first GET without
 * required parameters. A health check is chosen only if there is no other operation.
 */
export function sampleOperationOf(
  references: readonly AddressedContract[],
  named: string | undefined,
): ChosenSample | undefined {
  const all = references.flatMap(({ operations, reference }) =>
    operations.map((at) => ({ at, server: reference.server })),
  );
  const isPlain = ({ at: { operation } }: ChosenSample) =>
    operation.method === 'GET' &&
    !operation.webSocket &&
    !operation.path.includes('{') &&
    operation.parameters.every(({ required }) => required !== true);
  const takesKeys = ({ at: { operation } }: ChosenSample) =>
    operation.security.some(({ scheme }) => scheme === 'apiKey');
  const candidates = all.filter(isPlain);
  const tells = candidates.filter(({ at }) => !isHealthPath(at.operation.path));
  const [first] = [...tells.filter(takesKeys), ...tells, ...candidates];
  return candidates.find(({ at }) => at.operation.id === named) ?? first;
}

export function guideFacts(
  references: readonly AddressedContract[],
  sample: ChosenSample | undefined,
  settings: GuideSettings,
  tools: DocumentTools,
): GuideFacts {
  const operations = references.flatMap(({ operations: own }) => own.map(({ operation }) => operation));
  const keyed = operations.filter(({ security }) => security.some(({ scheme }) => scheme === 'apiKey'));
  const scopes = [...new Set(keyed.flatMap(({ security }) => security.flatMap((one) => one.scopes)))];
  const [version] = settings.versions;
  const hasCustomers = operations.some(({ id }) => id === 'listCustomers');
  const windows = new Set(settings.tiers.map(({ windowSeconds }) => windowSeconds));
  const [tier = { requests: 100, windowSeconds: 60 }] = settings.tiers;
  const facts = new Map<string, string | undefined>([
    ['url', settings.publicUrl],
    ['badKey', BAD_KEY],
    ['keys', keyed.length > 0 ? 'yes' : undefined],
    ['tests', keyed.some(({ hasTestMode }) => hasTestMode) ? 'yes' : undefined],
    ['readScope', scopes.find((scope) => scope.endsWith(':read'))],
    ['writeScope', scopes.find((scope) => scope.endsWith(':write'))],
    ['version', version],
    ['contract', references.find(({ clientOperations }) => clientOperations > 0)?.reference.name],
    ['customers', hasCustomers ? 'yes' : undefined],
    ...clientFacts(sample, hasCustomers),
    ['versions', settings.versions.map((one) => JSON.stringify(one)).join(', ') || undefined],
    ['span', windows.size === 1 ? spanOf([...windows][0] as number) : 'a span of time'],
    ['windowSeconds', String(tier.windowSeconds)],
    // These numbers are marked in the page. A script replaces them by the numbers of the reader's own tier.
    ['limit', `\uE001${tier.requests}\uE001`],
    ['limitLess', `\uE002${tier.requests - 1}\uE002`],
    ['getKey', [firstKeyText(settings.help.contact), ...(settings.hasAccount ? [FURTHER_KEYS] : [])].join(' ')],
    ['account', settings.hasAccount ? 'yes' : undefined],
    ['breaks', hasBreaks(references, settings.publications) ? 'yes' : undefined],
    ['limitsPage', settings.hasLimitsPage ? 'yes' : undefined],
    ['countPer', settings.countPer],
    [`per-${settings.countPer}`, 'yes'],
    ['retained', spanOf(settings.retainSeconds)],
    ...operations.map(({ id }) => [`operation ${id}`, 'yes'] as const),
    ...sampleFacts(sample, tools),
    ...writeFacts(references, sample, tools),
  ]);
  return new Map([...facts].filter((fact): fact is [string, string] => fact[1] !== undefined));
}

/** Returns the names that generators give the sample operation, if all generators keep the name. */
function clientFacts(sample: ChosenSample | undefined, hasCustomers: boolean): [string, string | undefined][] {
  const operation = sample?.at.operation;
  if (operation === undefined || hasCustomers) return [];
  const [tag = 'default'] = listOf(operation.declared.tags).map(String);
  if (!/^[a-z]+([A-Z][a-z]+)*$/.test(operation.id) || !/^[A-Za-z]+$/.test(tag)) return [];
  return [
    ['ownMethod', operation.id],
    ['pythonMethod', operation.id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)],
    ['pythonApi', `${tag.charAt(0).toUpperCase()}${tag.slice(1)}Api`],
  ];
}

function hasBreaks(references: readonly AddressedContract[], publications: readonly Publication[]): boolean {
  const names = new Set(references.map(({ reference }) => reference.name));
  return publications.some(
    ({ contract, changes }) => names.has(contract) && changes.some(({ level }) => level === 'breaking'),
  );
}

function sampleFacts(sample: ChosenSample | undefined, tools: DocumentTools): [string, string | undefined][] {
  if (sample === undefined) return [];
  const { operation } = sample.at;
  const isKeyed = operation.security.some(({ scheme }) => scheme === 'apiKey');
  const request = sampleRequestOf(operation, viewOfOperation(operation, tools), '');
  const bounded = operation.parameters.find(
    (parameter) => parameter.in === 'query' && maximumOf(parameter.schema, operation.root, tools) !== undefined,
  );
  const maximum = bounded && maximumOf(bounded.schema, operation.root, tools);
  return [
    ['read', isKeyed ? request.url : undefined],
    ['bounded', isKeyed && bounded ? String(bounded.name) : undefined],
    ['maximum', maximum === undefined ? undefined : String(maximum)],
    ['beyond', maximum === undefined ? undefined : String(maximum + 1)],
  ];
}

function maximumOf(schema: unknown, root: Record<string, unknown>, { resolve }: DocumentTools): number | undefined {
  const target = resolve(root, schema) as { type?: unknown; maximum?: unknown } | undefined;
  return target?.type === 'integer' && Number.isSafeInteger(target.maximum) ? (target.maximum as number) : undefined;
}

/** Returns a write beside the sample operation, otherwise the first write that accepts JSON and has no path parameter. */
function writeFacts(
  references: readonly AddressedContract[],
  sample: ChosenSample | undefined,
  tools: DocumentTools,
): [string, string | undefined][] {
  const all = references.flatMap(({ operations }) => operations.map(({ operation }) => operation));
  const repeatable = all.filter(
    ({ idempotency, security }) => idempotency !== 'off' && security.some(({ scheme }) => scheme === 'apiKey'),
  );
  const candidates = repeatable.filter(({ method, path }) => method === 'POST' && !path.includes('{'));
  const beside = candidates.find(({ path }) => path === sample?.at.operation.path);
  for (const operation of beside ? [beside] : candidates.slice(0, 20)) {
    const { url, body } = sampleRequestOf(operation, viewOfOperation(operation, tools), '');
    if (body?.kind !== 'json') continue;
    const text = JSON.stringify(body.value);
    return [
      ['write', url],
      ['body', text],
      ['bodyForShell', text.replaceAll("'", "'\\''")],
      ['bodyForGo', text.replaceAll('`', '\\u0060')],
    ];
  }
  return [];
}

function spanOf(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
  ] as const;
  const [size, unit] = units.find(([one]) => seconds > one && seconds % one === 0) ?? [1, 'second'];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Replaces `{{name}}` by facts, and leaves out the lines from `{{#name}}` or `{{^name}}` to `{{/name}}` that do not apply. */
export function fillIn(text: string, facts: GuideFacts): string {
  const chosen = text.replace(
    /^\{\{([#^])([\w-]+)\}\}\n([\s\S]*?)^\{\{\/\2\}\}\n/gm,
    (_, kind: string, name: string, part: string) => (facts.has(name) === (kind === '#') ? part : ''),
  );
  return chosen.replace(/\{\{(\w+)\}\}/g, (_, name: string) => facts.get(name) ?? '').replace(/\n{3,}/g, '\n\n');
}
