// Tables of what each instance tells about itself.

import { place } from './elements.js';
import { createTable } from './tables.js';

/** Makes a table of rows that are taken from each feed. */
export function createTableOf(id, rowsIn, options) {
  const show = createTable(place(id), options);
  return (feed) => show(rowsIn(feed));
}

/** Returns the rows of all instances. The rows have the name of the instance if there are several. */
export const ofEach = (rowsIn) => (feed) => {
  const { statuses } = feed;
  return statuses.flatMap(({ instance, status, stores }) =>
    status === null
      ? []
      : rowsIn(status, stores).map((row) => ({ ...row, instance: statuses.length > 1 ? instance : '' })),
  );
};

/**
 * Like `ofEach`, but with one row, marked `all`, where the rows of all instances are the same. Different rows stay separate.
 *
 * @param keyOf returns the key of a row; rows with one key are about the same thing
 * @param joins members that may differ, each with a function that makes one value from the values of all rows
 */
export const ofAll =
  (rowsIn, keyOf, joins = {}) =>
  (feed) => {
    const instances = feed.statuses.filter(({ status }) => status !== null).length;
    const withoutPlace = (name, value) => (name === 'instance' || name in joins ? undefined : value);
    return [...Map.groupBy(ofEach(rowsIn)(feed), keyOf).values()].flatMap((same) => {
      const different = new Set(same.map((row) => JSON.stringify(row, withoutPlace)));
      if (same.length < 2 || same.length < instances || different.size > 1) return same;
      const members = Object.entries(joins).map(([name, join]) => [name, join(same.map((row) => row[name]))]);
      return [{ ...same[0], ...Object.fromEntries(members), instance: 'all' }];
    });
  };

export const sumOf = (values) => values.reduce((sum, value) => sum + (value ?? 0), 0);

export const keyOfTarget = ({ upstream, mode, address }) => `${upstream} ${mode} ${address}`;
/** Of the times at which a target answered the instances. Without any, all have null, or none has the member. */
const latestOf = (times) => times.filter(Boolean).sort().at(-1) ?? times[0];

/** Returns the targets of all upstreams. */
export const targetRows = ofAll(upstreamRows, keyOfTarget, {
  outstanding: sumOf,
  waiting: sumOf,
  answered_at: latestOf,
});

function upstreamRows({ upstreams: known = {} }) {
  return Object.entries(known).flatMap(([upstream, { targets = [], breaker = {}, ...shared }]) =>
    targets.map((target) => ({ ...shared, ...target, upstream, breaker: breaker[target.mode] })),
  );
}

export const INSTANCE_COLUMN = { key: 'instance', label: 'Instance', optional: true, value: true };
