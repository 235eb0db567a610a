// Tables of what each instance tells about itself.

import { place } from './elements.js';
import { createTable } from './tables.js';

/** A table of rows taken from each feed. */
export function createTableOf(id, rowsIn, options) {
  const show = createTable(place(id), options);
  return (feed) => show(rowsIn(feed));
}

/** The rows that each instance tells, with its name where several are shown. */
export const ofEach = (rowsIn) => (feed) => {
  const { statuses } = feed;
  return statuses.flatMap(({ instance, status }) =>
    status === null ? [] : rowsIn(status).map((row) => ({ ...row, instance: statuses.length > 1 ? instance : '' })),
  );
};

export const instanceColumn = {
  key: 'instance',
  label: 'Instance',
  optional: true,
  cell: ({ instance }) => instance,
  value: ({ instance }) => instance,
};
