// Pure: joins the reports of one or several gateways into the data of the page, with the markers of all in one list. Also finds out whether
// their configurations differ, which no single gateway can know.

import type { Cause } from '../../shared/contracts/cause.ts';
import { nextCommandOf } from '../../shared/next-command.ts';
import { type FoundCause, idOf, published, warningCause } from '../causes/cause.ts';
import type { Extents } from '../causes/extent.ts';
import type { Lasting } from '../events/outages.ts';
import {
  type FleetInstance,
  GONE_MS,
  type MissingInstance,
  machineOf,
  type ReturnedInstance,
} from '../fleet/fleet-instance.ts';
import type { GatewayEvent } from '../history/gateway-event.ts';
import type { RangeCounts } from '../history/history-counts.ts';
import { type HistoryReport, historyReport } from '../history/history-report.ts';
import type { OrganizationNearLimit } from '../history/sample.ts';
import { type StoreReport, storeReports } from '../stores.ts';
import { joinCauses } from './join-causes.ts';
import { mergeNearLimit } from './near-limit.ts';
import type { VersionSummary } from './version-summary.ts';

/** The report of one gateway about itself. */
export interface LocalFeed {
  readonly counts: RangeCounts;
  readonly organizations: readonly OrganizationNearLimit[];
  /** The status; null if no process answered. */
  readonly status: object | null;
  /** The versions; null if these are not known yet, or if no process answered. */
  readonly versions: VersionSummary | null;
  readonly causes: readonly Lasting<FoundCause>[];
  /** The counts in which the figures of causes are found again; absent from an instance of an earlier version. */
  readonly extents?: Extents | undefined;
  /** The configuration in force; absent from an instance of an earlier version. */
  readonly configuration?: ConfigurationInForce | undefined;
  readonly events: readonly GatewayEvent[];
}

/** All times are ISO 8601, UTC. */
export interface Feed {
  readonly at: string;
  readonly history: HistoryReport | null;
  readonly organizations: readonly OrganizationNearLimit[];
  /** The status of the first instance that answered; null if no instance did. */
  readonly status: object | null;
  readonly statuses: readonly {
    readonly instance: string;
    readonly status: object | null;
    readonly stores: readonly StoreReport[];
  }[];
  readonly versions: VersionSummary | null;
  readonly attention: readonly Cause[];
  readonly events: readonly (GatewayEvent & { readonly instance?: string })[];
}

interface Answer {
  readonly instance: FleetInstance | MissingInstance;
  /** The figures of the instance; undefined if it did not answer. */
  readonly value: LocalFeed | undefined;
}

/**
 * @param bounds upper bounds of the duration buckets, in seconds
 * @param returned the instances that were missing until a moment ago
 */
export function feedOf(
  bounds: readonly number[],
  answers: readonly Answer[],
  returned: readonly ReturnedInstance[],
  nowMs: number,
): Feed {
  const told = answers.flatMap(({ instance, value }) =>
    value === undefined ? [] : [{ name: instance.name, ...value }],
  );
  const [first] = told;
  // An instance of another release may have other buckets, which cannot be added.
  const counted = told
    .map(({ counts }) => counts)
    .filter(
      ({ all, slotMs }) => all.minute.length === first?.counts.all.minute.length && slotMs === first.counts.slotMs,
    );
  return {
    at: new Date(nowMs).toISOString(),
    history: counted.length === 0 ? null : historyReport(bounds, counted),
    organizations: mergeNearLimit(told.map(({ organizations }) => organizations)),
    status: told.find(({ status }) => status !== null)?.status ?? null,
    statuses: told.map(({ name, status }) => ({ instance: name, status, stores: storeReports(status ?? {}, nowMs) })),
    versions: told.find(({ versions }) => versions !== null)?.versions ?? null,
    attention: attentionOf(answers, returned, nowMs).map((cause) => ({ ...cause, next: nextCommandOf(cause) })),
    events: told.length === 1 ? (first?.events ?? []) : joinEvents(told),
  };
}

/** What the causes of several instances are joined from. */
export type CausesAnswer = Pick<LocalFeed, 'causes' | 'configuration' | 'extents' | 'organizations'>;

/** Returns the causes of all instances. Instances that did not answer are causes, too. */
export function attentionOf(
  answers: readonly {
    readonly instance: FleetInstance | MissingInstance;
    readonly value: CausesAnswer | undefined;
  }[],
  returned: readonly ReturnedInstance[],
  nowMs: number,
): Cause[] {
  const told = answers.flatMap(({ instance: { name }, value }) => (value === undefined ? [] : [{ ...value, name }]));
  const silent = answers.filter(({ value }) => value === undefined).map(({ instance }) => silentCause(instance));
  const isSilent = ({ name }: ReturnedInstance) => silent.some(({ about }) => about.name === name);
  const over = returned.filter((one) => !isSilent(one)).map(returnedCause);
  return [...silent.map(published), ...joinCauses(told), ...over, ...differentConfigurations(told, nowMs)];
}

export function missingCauseId(name: string): string {
  return idOf({ topic: 'instance', name });
}

export function silentCause(instance: FleetInstance | MissingInstance): FoundCause {
  const { name, admin_port: port } = instance;
  const since = 'missing_since' in instance ? instance.missing_since : undefined;
  const goneAt = since === undefined ? undefined : new Date(Date.parse(since) + GONE_MS).toISOString();
  const heard = since === undefined ? '' : `It was last heard of at ${since}. `;
  return {
    about: { topic: 'instance', name },
    id: missingCauseId(name),
    kind: 'bad',
    cause: `Instance ${name} does not respond.`,
    consequence: `${heard}${processText(instance)} Its requests are not among these figures. If it is gone for good, dismiss it${goneAt === undefined ? '' : `; at ${goneAt} it counts as gone`}.`,
    next: port === undefined ? undefined : `ADMIN_PORT=${port} bin/gateway status`,
    ...(goneAt !== undefined && { until: goneAt }),
    since,
    // Another process under the same name is another incident.
    fault: instance.id,
    runbook: 'GatewayDown',
    details: '#/system',
    instances: [name],
  };
}

/** Says whether the process was killed or hangs, if it ran on this machine, and otherwise where to find this out. */
function processText({ name, pid, ...instance }: FleetInstance | MissingInstance): string {
  if (pid === undefined) return 'It may be down.';
  const runs = 'runs' in instance ? instance.runs : undefined;
  if (runs === undefined) return `Look on ${machineOf({ name })} whether its process ${pid} runs.`;
  return runs ? `Its process ${pid} runs, so it hangs or is stopped.` : `Its process ${pid} does not run any more.`;
}

/** Returns the recovered cause of an instance that has returned. Alerts read the reason from it. */
function returnedCause({ name, missing_since: since, why }: ReturnedInstance): Cause {
  const text = `Instance ${name} is no longer missing.`;
  return {
    ...published(warningCause({ topic: 'instance', name }, text, why, { since, hasRecovered: true })),
    details: '#/system',
    ended: why,
    instances: [name],
  };
}

type Placed = GatewayEvent & { readonly instance: string };

/** A change of the configuration, or a release, reaches all instances within this time. */
const SAME_CHANGE_MS = 300_000;

/** Joins an event that several instances saw into one, whose `instance` names all of them. Returns the events, oldest first. */
export function joinEvents(
  told: readonly { readonly name: string; readonly events: readonly GatewayEvent[] }[],
): Placed[] {
  const all = told
    .flatMap(({ name, events }) => events.map((event) => ({ ...event, instance: name })))
    .sort((one, other) => one.at.localeCompare(other.at));
  const joined: Placed[] = [];
  /** The index of the latest one in the list, by kind and text. */
  const latest = new Map<string, number>();
  for (const event of all) {
    const key = `${event.kind} ${event.text}`;
    const index = latest.get(key);
    const known = index === undefined ? undefined : joined[index];
    if (index !== undefined && known !== undefined && isSame(known, event)) {
      joined[index] = { ...known, until: endOf(known, event), instance: both(known, event) };
      continue;
    }
    latest.set(key, joined.length);
    joined.push(event);
  }
  return joined;
}

const isLasting = ({ kind }: GatewayEvent) => kind === 'outage' || kind === 'warning';

/** An instance that starts or reloads twice has two events. */
function isSame(known: Placed, event: Placed): boolean {
  if (isLasting(event)) return known.until === null || known.until >= event.at;
  const isNear = Date.parse(event.at) - Date.parse(known.at) <= SAME_CHANGE_MS;
  return isNear && (event.kind === 'start' || event.kind === 'reload') && !namesIn(known).includes(event.instance);
}

const endOf = (known: Placed, event: Placed) => (isLasting(event) ? laterOf(known.until, event.until) : known.until);

const namesIn = ({ instance }: Placed) => instance.split(', ');

const laterOf = (one: string | null, other: string | null) =>
  one === null || other === null ? null : one > other ? one : other;

const both = (one: Placed, other: Placed) =>
  namesIn(one).includes(other.instance) ? one.instance : `${one.instance}, ${other.instance}`;

interface ConfigurationInForce {
  readonly version?: string;
  /** ISO 8601. */
  readonly loaded_at?: string;
}

interface Instance {
  readonly name: string;
  /** The configuration in force; absent from an instance of an earlier version. */
  readonly configuration?: ConfigurationInForce | undefined;
}

/** A change reaches the instances one after another. */
const CHANGE_MS = 60_000;
const NAMED_MAX = 5;

function differentConfigurations(instances: readonly Instance[], nowMs: number): Cause[] {
  const known = instances.flatMap(({ name, configuration: { version, loaded_at: at } = {} }) =>
    version === undefined || at === undefined ? [] : [{ name, version, at }],
  );
  const versions = Map.groupBy(known, ({ version }) => version);
  const since = known
    .map(({ at }) => at)
    .sort()
    .at(-1);
  if (versions.size < 2 || since === undefined || nowMs - Date.parse(since) < CHANGE_MS) return [];
  const groups = [...versions].map(([version, same]) => `${version} on ${namesText(same)}`);
  const cause = warningCause(
    { topic: 'configuration', detail: 'differs' },
    `The instances have different configurations: ${groups.join('; ')}.`,
    'The same request may be decided by other rules on another instance.',
    { since, details: '#/system' },
  );
  return [published(cause)];
}

function namesText(instances: readonly { readonly name: string }[]): string {
  const named = instances.slice(0, NAMED_MAX).map(({ name }) => name);
  const more = instances.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
