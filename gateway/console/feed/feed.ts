// Pure: joins the reports of one or several gateways into the data of the page, with the markers of all in one list. Also finds out whether
// their configurations differ, which no single gateway can know.

import type { Cause } from '../../shared/contracts/cause.ts';
import { nextCommandOf } from '../../shared/next-command.ts';
import { type FoundCause, published, warningCause } from '../causes/cause.ts';
import { clockCauses } from '../causes/clock-cause.ts';
import type { Extents } from '../causes/extent.ts';
import { returnedCause, silentCause } from '../causes/instance-causes.ts';
import type { Lasting } from '../events/outages.ts';
import type { FleetInstance, MissingInstance, ReturnedInstance } from '../fleet/fleet-instance.ts';
import type { GatewayEvent } from '../history/gateway-event.ts';
import type { RangeCounts } from '../history/history-counts.ts';
import { type HistoryReport, historyReport } from '../history/history-report.ts';
import type { OrganizationNearLimit } from '../history/sample.ts';
import { type StoreReport, storeReports } from '../stores.ts';
import { joinCauses } from './join-causes.ts';
import { joinEvents, type ListedEvent, listedEvents } from './join-events.ts';
import { mergeNearLimit } from './near-limit.ts';
import type { VersionSummary } from './version-summary.ts';

/** The report of one gateway about itself. */
export interface LocalFeed {
  /** The id of the history; absent from an instance of an earlier version. */
  readonly history_id?: string | undefined;
  readonly counts: RangeCounts;
  readonly organizations: readonly OrganizationNearLimit[];
  /** The status; null if no process answered. */
  readonly status: object | null;
  /** The versions; null if these are not known yet, or if no process answered. */
  readonly versions: VersionSummary | null;
  readonly causes: readonly Lasting<FoundCause>[];
  /** The counts in which the figures of causes are found again; absent from an instance of an earlier version. */
  readonly extents?: Extents | undefined;
  /** The time of the report by the clock of the instance, in epoch milliseconds; absent from an instance of an earlier version. */
  readonly clock_ms?: number | undefined;
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
  /** The events in the form for lists. */
  readonly listed: readonly ListedEvent[];
}

interface Answer {
  readonly instance: FleetInstance | MissingInstance;
  /** The figures of the instance; undefined if it did not answer. */
  readonly value: LocalFeed | undefined;
}

/**
 * @param bounds upper bounds of the duration buckets, in seconds
 * @param ended the counts of the instances that did not answer
 */
export function feedOf(
  bounds: readonly number[],
  answers: readonly Answer[],
  unheard: Unheard,
  nowMs: number,
  ended: readonly RangeCounts[] = [],
): Feed {
  const told = answers.flatMap(({ instance, value }) =>
    value === undefined ? [] : [{ name: instance.name, ...value }],
  );
  const [first] = told;
  // An instance of another release may have other buckets, which cannot be added.
  const counted = [...told.map(({ counts }) => counts), ...ended].filter(
    ({ all, slotMs }) => all.minute.length === first?.counts.all.minute.length && slotMs === first.counts.slotMs,
  );
  const events = told.length === 1 ? (first?.events ?? []) : joinEvents(told);
  return {
    at: new Date(nowMs).toISOString(),
    history: counted.length === 0 ? null : historyReport(bounds, counted),
    organizations: mergeNearLimit(told.map(({ organizations }) => organizations)),
    status: told.find(({ status }) => status !== null)?.status ?? null,
    statuses: told.map(({ name, status }) => ({ instance: name, status, stores: storeReports(status ?? {}, nowMs) })),
    versions: told.find(({ versions }) => versions !== null)?.versions ?? null,
    attention: attentionOf(answers, unheard, nowMs)
      .filter(({ isOver }) => !isOver)
      .map((cause) => ({ ...cause, next: nextCommandOf(cause) })),
    events,
    listed: listedEvents(events),
  };
}

/** The instances without a part in the answers. */
interface Unheard {
  /** The instances that were missing until a moment ago. */
  readonly returned: readonly ReturnedInstance[];
  /** The names of the instances that cannot be asked, because Redis cannot be reached or takes no writes. */
  readonly unasked: readonly string[];
}

/** What the causes of several instances are joined from. */
export type CausesAnswer = Pick<LocalFeed, 'causes' | 'clock_ms' | 'configuration' | 'extents' | 'organizations'>;

/** Returns the causes of all instances. Instances that did not answer are causes, too. */
export function attentionOf(
  answers: readonly {
    readonly instance: FleetInstance | MissingInstance;
    readonly value: CausesAnswer | undefined;
  }[],
  { returned, unasked }: Unheard,
  nowMs: number,
): Cause[] {
  const told = answers.flatMap(({ instance: { name }, value }) => (value === undefined ? [] : [{ ...value, name }]));
  const silent = answers.filter(({ value }) => value === undefined).map(({ instance }) => silentCause(instance));
  const isSilent = ({ name }: ReturnedInstance) => silent.some(({ about }) => about.name === name);
  const over = returned
    .filter((one) => !isSilent(one))
    .map(returnedCause)
    .map(published);
  const joined = joinCauses(told).map((cause) => toldAlone(cause, told[0]?.name ?? '', unasked));
  return [
    ...silent.map(published),
    ...joined,
    ...over,
    ...differentConfigurations(told, nowMs),
    ...clockCauses(told).map(published),
  ];
}

/** Says that a cause is what one instance sees, if the others cannot be asked. */
function toldAlone(cause: Cause, name: string, unasked: readonly string[]): Cause {
  if (unasked.length === 0) return cause;
  const alone = `Meanwhile instances cannot ask each other: ${name} speaks for itself alone. Ask ${namesText(unasked)}, too.`;
  return { ...cause, instances: [name], ...(cause.id === 'redis' && { consequence: `${cause.consequence} ${alone}` }) };
}

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
  const groups = [...versions].map(([version, same]) => `${version} on ${namesText(same.map(({ name }) => name))}`);
  const cause = warningCause(
    { topic: 'configuration', detail: 'differs' },
    `The instances have different configurations: ${groups.join('; ')}.`,
    'The same request may be decided by other rules on another instance.',
    { since, details: '#/system' },
  );
  return [published(cause)];
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  const named = names.slice(0, NAMED_MAX).join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}
