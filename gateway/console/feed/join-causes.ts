// Pure: joins the same cause of several instances into one, with their worst kind. Its sentence is told with the counts of all instances,
// which are also those of the tiles and tables.

import { addedFigures, type Cause, mostPauses, type Symptom } from '../../shared/contracts/cause.ts';
import { type FoundCause, published, TOPICS, toldIn } from '../causes/cause.ts';
import {
  type CountedExtent,
  countedOver,
  type Extent,
  type Extents,
  type LimitExtent,
  type OtherCauses,
  withCounts,
} from '../causes/extent.ts';
import { nearlyUsedCause } from '../causes/organization-causes.ts';
import type { CauseFigures } from '../causes/telling.ts';
import type { Lasting } from '../events/outages.ts';
import type { OrganizationNearLimit } from '../history/sample.ts';
import { mergeNearLimit } from './near-limit.ts';

type LocalCause = Lasting<FoundCause>;

interface CausesOfInstance {
  readonly name: string;
  readonly causes: readonly LocalCause[];
  /** The counts of the instance; absent from an instance of an earlier version. */
  readonly extents?: Extents | undefined;
  readonly organizations?: readonly OrganizationNearLimit[] | undefined;
}

/** Counts of all instances. */
interface Counts {
  /** Undefined if an instance does not say its counts. */
  readonly extents: readonly Extents[] | undefined;
  readonly organizations: readonly OrganizationNearLimit[];
  /** The ids of all causes. */
  readonly ids: ReadonlySet<string>;
}

/** Returns failures before warnings. */
export function joinCauses(told: readonly CausesOfInstance[]): Cause[] {
  const all = told.flatMap(({ name, causes }) => causes.map((cause) => ({ name, cause })));
  const extents = told.flatMap((one) => (one.extents === undefined ? [] : [one.extents]));
  const counts = {
    extents: extents.length === told.length ? extents : undefined,
    organizations: mergeNearLimit(told.map(({ organizations = [] }) => organizations)),
  };
  const refused = new Set(all.flatMap(({ cause: { about } }) => (about?.topic === 'organization' ? [about.name] : [])));
  const ids = new Set(all.map(({ cause }) => cause.id));
  const groups = Map.groupBy(
    // An organization that one instance refuses is not also near its limit.
    all.filter(({ cause: { about } }) => about?.topic !== 'near' || !refused.has(about.name)),
    ({ cause }) => cause.id,
  );
  const joined = [...groups.values()].map((group) => {
    const cause = joinedCause(group.map(({ cause }) => cause).toSorted(byWeight), { ...counts, ids });
    const lasting = group.filter(({ cause: one }) => one.isOver === cause.isOver);
    return lasting.length === told.length ? cause : { ...cause, instances: lasting.map(({ name }) => name) };
  });
  return joined.filter(isLeft).toSorted(byOrder).map(published);
}

/** Whether other causes are left that the cause counts. */
function isLeft({ extent, figures }: FoundCause): boolean {
  return extent?.of !== 'others' || figures?.others !== 0;
}

/** The topics of warnings about what clients do not notice yet. */
const SOON: readonly FoundCause['about']['topic'][] = ['near', 'certificate'];

/** Sorts failures first, and causes that are over last. Causes of one topic are in the order of their extent. */
function byOrder(one: FoundCause, other: FoundCause): number {
  const rank = ({ kind, about, hasRecovered }: FoundCause) =>
    kind === 'bad' ? 0 : hasRecovered ? 3 : SOON.includes(about?.topic) ? 2 : 1;
  const place = ({ about }: FoundCause) => TOPICS.indexOf(about?.topic);
  return rank(one) - rank(other) || place(one) - place(other) || extentOf(other) - extentOf(one);
}

function extentOf({ figures = {} }: FoundCause): number {
  return figures.failed ?? figures.refused ?? figures.p90_ms ?? figures.requests ?? 0;
}

/** Sorts the failure before warnings, causes that last before causes that are over, and those with the most failed requests first. */
function byWeight(one: LocalCause, other: LocalCause): number {
  const rank = ({ kind, hasRecovered, isOver }: LocalCause) => (kind === 'bad' ? 0 : isOver ? 3 : hasRecovered ? 2 : 1);
  return rank(one) - rank(other) || extentOf(other) - extentOf(one) || one.since.localeCompare(other.since);
}

/** @param all the same cause of several instances, the worst first */
function joinedCause(all: readonly LocalCause[], counts: Counts): FoundCause {
  const [worst] = all as readonly [LocalCause, ...LocalCause[]];
  const group = all.filter(({ isOver }) => isOver === worst.isOver);
  const alike = group.filter(({ hasRecovered }) => hasRecovered === worst.hasRecovered);
  const [since] = alike.map((one) => one.since).sort();
  const endedAt = alike
    .flatMap((one) => one.endedAt ?? [])
    .sort()
    .at(-1);
  const lastAts = alike.flatMap((one) => one.lastAt ?? []).sort();
  if (worst.extent?.of === 'nearly used') return { ...nearestLimit(worst, worst.extent, counts), since };
  const symptoms = joinedSymptoms(group, counts);
  const figures = joinedFigures(group, counts);
  const joined = {
    ...worst,
    since,
    organizations: [...new Set(group.flatMap(({ organizations = [] }) => organizations))],
    suffered: addedFigures(all.map(({ suffered }) => suffered)),
    pauses: mostPauses(all.map(({ pauses }) => pauses)),
    lastAt: lastAts.length < alike.length ? undefined : lastAts.at(-1),
    ...(endedAt && { endedAt }),
    ...(figures && { figures }),
    ...(symptoms.length > 0 && { symptoms }),
  };
  return worst.told === undefined
    ? joined
    : { ...joined, ...toldIn(worst.told.cause, worst.told.consequence, { figures, symptoms }) };
}

function nearestLimit(cause: FoundCause, { organization, policy, share }: LimitExtent, { organizations }: Counts) {
  const near = organizations.find((one) => one.organization === organization && one.policy === policy);
  return near === undefined ? cause : nearlyUsedCause(near, share);
}

/** Returns the counts of all instances, and the sums of figures that are not counted. Of durations the longest is taken. */
function joinedFigures(group: readonly LocalCause[], { extents, ids }: Counts): CauseFigures | undefined {
  const all = group.flatMap(({ figures }) => (figures === undefined ? [] : [figures]));
  const [worst] = all;
  if (worst === undefined) return undefined;
  const keys = [...new Set(all.flatMap((figures) => Object.keys(figures)))];
  const sums = Object.fromEntries(
    keys.map((key) => {
      const values = all.map((figures) => figures[key] ?? 0);
      return [key, key.endsWith('_ms') ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0)];
    }),
  );
  const extent = joinedExtent(group.flatMap((one) => one.extent ?? []));
  if (extent?.of === 'others') return { others: extent.names.filter((id) => !ids.has(id)).length };
  return extent === undefined || extents === undefined ? sums : withCounts(sums, countedOver(extent, extents));
}

/** Returns the extent of the worst cause, with the names of all. */
function joinedExtent(all: readonly Extent[]): CountedExtent | OtherCauses | undefined {
  const [worst] = all;
  if (worst === undefined || worst.of === 'nearly used') return undefined;
  const names = all.flatMap((one) => (one.of === 'nearly used' ? [] : one.names));
  return { ...worst, names: [...new Set(names)] };
}

/** Returns each operation once, the one with the most failed requests first. */
function joinedSymptoms(group: readonly LocalCause[], { extents }: Counts): Symptom[] {
  const byName = Map.groupBy(
    group.flatMap(({ symptoms = [] }) => symptoms),
    ({ name }) => name,
  );
  return [...byName]
    .map(([name, same]) => {
      const isSlow = same.every(({ failed, unserved }) => failed === 0 && unserved === undefined);
      const unserved = same.reduce((sum, one) => sum + (one.unserved ?? 0), 0);
      const { requests, failed } =
        isSlow || extents === undefined
          ? summedUp(same)
          : countedOver({ of: 'operations', names: [name], span: 'minute' }, extents);
      return { name, requests, failed, ...(unserved > 0 && { unserved }) };
    })
    .sort((one, other) => other.failed - one.failed);
}

function summedUp(symptoms: readonly Symptom[]): Pick<Symptom, 'requests' | 'failed'> {
  const sumOf = (key: 'requests' | 'failed') => symptoms.reduce((sum, one) => sum + one[key], 0);
  return { requests: sumOf('requests'), failed: sumOf('failed') };
}
