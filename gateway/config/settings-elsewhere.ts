// Says where a setting belongs that stands in the wrong file: in another file, or among the secrets.

import { limitsFile } from '../limits/settings.ts';
import { isRecord } from '../shared/is-record.ts';
import { remedyForEntry } from '../shared/secret-names.ts';
import { gatewayFile } from './gateway/gateway-file.ts';
import { keysAt } from './schema-places.ts';
import { upstreamsFile } from './upstreams/upstreams-file.ts';

const FILES = { 'gateway.yaml': gatewayFile, 'upstreams.yaml': upstreamsFile, 'limits.yaml': limitsFile };
const SECRETS = ['admin_token', 'viewer_token', 'operator_tokens', 'key_pepper', 'assertion_keys'];

/** Returns what to do with a setting of another file; undefined if no file has it, or if it is rather a misspelling. */
export function remedyElsewhere(
  path: readonly (string | number)[],
  key: string,
  value: unknown,
  isMisspelling: boolean,
): string | undefined {
  if (SECRETS.includes(key)) return `Remove it here. ${remedyForEntry(key)}`;
  if (isMisspelling && !isRecord(value)) return undefined;
  if (key === 'limits' && !isOfSizes(value))
    return path[0] === 'upstreams'
      ? 'Write it in limits.yaml, with a name under "extra", and here limit: with that name.'
      : undefined;
  const file = Object.entries(FILES).find(([, schema]) => keysAt(schema, []).includes(key))?.[0];
  if (file !== undefined) return `Move it to ${file}, to the top level of the file.`;
  return path.length === 0 && !isMisspelling && keysAt(upstreamsFile, ['upstreams', 'entry']).includes(key)
    ? 'Move it to an entry below "upstreams" in upstreams.yaml, and indent it as the other keys there.'
    : undefined;
}

/** Whether these are the `limits` of gateway.yaml. */
function isOfSizes(value: unknown): boolean {
  const sizes = keysAt(gatewayFile, ['limits']);
  return isRecord(value) && Object.keys(value).every((key) => sizes.includes(key));
}
