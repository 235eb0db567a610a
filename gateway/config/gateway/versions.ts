// The shape of deprecations in gateway.yaml: release, deprecation and sunset dates of versions and operations, and their successors.

import { z } from 'zod';
import { isFieldText } from '../../shared/http/words.ts';
import { type Mistake, suggest, suggestOperation } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { byAnyName, type NamedOperation } from '../operation-names.ts';
import { HEADER_TEXT_RULE } from '../parts.ts';

/** A UTC day, `2027-01-15`. */
export const day = z
  .string()
  .refine(isDay, 'must be a day such as 2027-01-15')
  .meta({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', values: 'day' });
const page = z
  .string()
  .refine(isFieldText, { error: HEADER_TEXT_RULE, abort: true })
  .refine((text) => /^https?:\/\/[^\s<>"]+$/.test(text) && URL.canParse(text), 'must be an http:// or https:// address')
  .meta({ values: '`http://` or `https://` address, ASCII' });

const guide = page.optional().describe('The address of a guide that helps clients to move on.');

/** The versions by name, such as `v1`. */
export const versions = z.record(
  z.string().regex(/^v[1-9]\d{0,3}$/, 'must be a version such as v1'),
  z.strictObject({
    released: day.optional().describe('The first day on which clients could rely on the version.'),
    deprecated: day
      .optional()
      .describe(
        'The day from which clients should not start to use it. Every answer announces it, also before that day.',
      ),
    sunset: day.optional().meta({
      description: 'The day from which requests get 410 `version_sunset`.',
      values: 'day, at the earliest 12 months after `released` of the successor',
    }),
    guide,
    successor: z
      .string()
      .optional()
      .meta({ description: 'The version that replaces it. Required with `sunset`.', values: 'version' }),
  }),
);
/** The deprecations by operation id. */
export const operationDeprecations = z.record(
  z.string(),
  z.strictObject({
    released: day
      .optional()
      .describe('The first day on which clients could rely on the operation. Default: the day of its version.'),
    deprecated: day.optional().describe('As for a version. If both are deprecated, the earlier day applies.'),
    sunset: day.optional().meta({
      description: 'As of a version.',
      values: 'day, at the earliest 12 months after `deprecated` and after the release of the successor',
    }),
    guide,
    successor: z.string().optional().meta({ description: 'The operation that replaces it.', values: 'operation id' }),
  }),
);

type DatesByName = Readonly<Record<string, DeprecationDates>>;

/** The dates of one entry. Days are UTC. */
interface DeprecationDates {
  readonly released?: string | undefined;
  readonly deprecated?: string | undefined;
  readonly sunset?: string | undefined;
  readonly successor?: string | undefined;
  readonly guide?: string | undefined;
}

interface Operation extends NamedOperation {
  readonly method: string;
  /** The path template. */
  readonly path: string;
  readonly version: string | undefined;
}

interface DeprecationsToCheck {
  readonly versions: DatesByName;
  readonly operations: DatesByName;
}

/** Checks that all names resolve and all dates are in order. Pushes mistakes. */
export function checkDeprecations(
  { versions, operations }: DeprecationsToCheck,
  served: readonly Operation[],
  source: Source,
  mistakes: Mistake[],
): void {
  const versionsThere = new Set(served.flatMap(({ version }) => version ?? []));
  const byName = byAnyName(served);
  const named = served.map((one) => ({ ...one, name: one.id }));
  const versionNames = new Set([...versionsThere, ...Object.keys(versions)]);
  for (const [name, dates] of Object.entries(versions)) {
    const path = ['versions', name];
    if (!versionsThere.has(name) && dates.sunset === undefined) {
      const remedy = `${suggest(name, versionsThere)} Without contracts, only a version that has ended (sunset) can stand here.`;
      mistakes.push(source.mistakeAtKey(path, `no contract has a path below /${name}.`, remedy));
    }
    checkSuccessor(path, name, dates, versionNames, 'version', source, mistakes);
    checkOrder(path, dates, source, mistakes);
    if (dates.sunset !== undefined) checkVersionEnd(path, dates, versions, source, mistakes);
  }
  for (const [id, dates] of Object.entries(operations)) {
    const path = ['operations', id];
    const operation = byName.get(id);
    if (operation === undefined) {
      mistakes.push(source.mistakeAtKey(path, `no contract has an operation "${id}".`, suggestOperation(id, named)));
      continue;
    }
    checkSuccessor(path, id, dates, byName.keys(), 'operation', source, mistakes);
    checkOrder(path, dates, source, mistakes);
    checkOperationEnd(path, dates, releaseOf(dates, { versions, operations }, byName, operation), source, mistakes);
  }
}

function checkSuccessor(
  path: readonly string[],
  name: string,
  { successor }: DeprecationDates,
  known: Iterable<string>,
  what: string,
  source: Source,
  mistakes: Mistake[],
): void {
  if (successor === undefined) return;
  const names = [...known];
  if (successor === name) {
    const reason = `the ${what} names itself as its successor.`;
    mistakes.push(source.mistakeAt([...path, 'successor'], reason, `Name the ${what} that replaces it.`));
  } else if (!names.includes(successor)) {
    const reason = `there is no ${what} "${successor}".`;
    mistakes.push(source.mistakeAt([...path, 'successor'], reason, suggest(successor, names)));
  }
}

/** Requires that the sunset is not before the deprecation (RFC 9745 section 4). */
function checkOrder(
  path: readonly string[],
  { released, deprecated, sunset }: DeprecationDates,
  source: Source,
  mistakes: Mistake[],
): void {
  if (released !== undefined && deprecated !== undefined && deprecated < released) {
    const remedy = 'Correct one of the two dates.';
    mistakes.push(
      source.mistakeAt([...path, 'deprecated'], `it is deprecated before its release (${released}).`, remedy),
    );
  }
  if (sunset === undefined) return;
  if (deprecated === undefined) {
    const remedy = 'Add "deprecated: …" with the day from which clients should no longer use it.';
    mistakes.push(source.mistakeAt([...path, 'sunset'], 'it ends without having been deprecated.', remedy));
  } else if (sunset < deprecated) {
    const reason = `it ends before it is deprecated (${deprecated}).`;
    mistakes.push(source.mistakeAt([...path, 'sunset'], reason, 'A sunset is never earlier than the deprecation.'));
  }
}

/** Requires that a version ends 12 months after the release of its successor, or later. */
function checkVersionEnd(
  path: readonly string[],
  { sunset, successor }: DeprecationDates,
  versions: DatesByName,
  source: Source,
  mistakes: Mistake[],
): void {
  if (successor === undefined) {
    const remedy = 'Add "successor: …": a version ends at the earliest 12 months after the release of the next one.';
    mistakes.push(source.mistakeAt([...path, 'sunset'], 'a version cannot end without a successor.', remedy));
    return;
  }
  const released = versions[successor]?.released;
  if (released === undefined) {
    const reason = `the release date of its successor "${successor}" is missing.`;
    mistakes.push(source.mistakeAt([...path, 'successor'], reason, `Add versions.${successor}.released.`));
  } else if ((sunset as string) < aYearAfter(released)) {
    const reason = `${sunset} is earlier than 12 months after the release of "${successor}" (${released}).`;
    mistakes.push(source.mistakeAt([...path, 'sunset'], reason, `The earliest day is ${aYearAfter(released)}.`));
  }
}

/** Requires that an operation ends 12 months after its deprecation and after the release of its successor, or later. */
function checkOperationEnd(
  path: readonly string[],
  { deprecated, sunset }: DeprecationDates,
  released: string | undefined,
  source: Source,
  mistakes: Mistake[],
): void {
  if (sunset === undefined || deprecated === undefined) return;
  const [from, what] =
    released !== undefined && released > deprecated
      ? [released, 'the release of its successor']
      : [deprecated, 'its deprecation'];
  if (sunset >= aYearAfter(from)) return;
  const reason = `${sunset} is earlier than 12 months after ${what} (${from}).`;
  mistakes.push(source.mistakeAt([...path, 'sunset'], reason, `The earliest day is ${aYearAfter(from)}.`));
}

/** Returns the release date of an operation's successor: its own date, or the date of its version. */
function releaseOf(
  { successor }: DeprecationDates,
  { versions, operations }: DeprecationsToCheck,
  byName: ReadonlyMap<string, Operation>,
  operation: Operation,
): string | undefined {
  const next = successor === undefined ? undefined : byName.get(successor);
  if (next === undefined) return undefined;
  const withVersion = next.version === operation.version ? undefined : versions[next.version ?? '']?.released;
  return (operations[next.id] ?? operations[next.qualifiedId])?.released ?? withVersion;
}

/** Returns the date one year later. February 29 becomes March 1. */
function aYearAfter(text: string): string {
  const date = new Date(text);
  date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.toISOString().slice(0, 10);
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
