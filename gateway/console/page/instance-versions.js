// Shows the configuration that each instance has in force. The reader sees at once that a change has reached only some instances.

import { element, signed } from './elements.js';
import { NONE, timeElement } from './format.js';

/** Makes a row for each instance that is shown. `differs` is true if the instances have different versions. */
export function versionsIn({ statuses }) {
  const rows = statuses.map(({ instance, status }) => {
    const { version, loaded_at: since } = status?.configuration ?? {};
    return { instance, configuration: version, since };
  });
  const known = new Set(rows.map(({ configuration }) => configuration).filter((one) => one !== undefined));
  return rows.map((row) => ({ ...row, differs: known.size > 1 }));
}

/** Shows the version of an instance, and since when it is in force. */
export function versionCell({ configuration, since, differs }) {
  if (configuration === undefined) return '';
  const version = element('code', {}, configuration);
  const begin = since ? [' since ', timeElement(since)] : [` ${NONE}`];
  return element('span', {}, differs ? signed('warn', version) : version, ...begin);
}
