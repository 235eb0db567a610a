// The settings that `GET /api/settings/keys` shows.
import type { MailSettings } from './options.ts';
import { lastOf } from './query.ts';

type Shown = Pick<MailSettings, 'settings' | 'useForwarded' | 'publicUrl'>;

/** The settings of these names, and those below these prefixes; names that are not set are left out. */
export function shownSettings(
  { settings, useForwarded, publicUrl }: Shown,
  query: URLSearchParams,
): Readonly<Record<string, string>> {
  const all: Readonly<Record<string, string>> = {
    ...(useForwarded && { 'http.use-x-forwarded': 'true' }),
    ...(publicUrl !== undefined && { 'http.url': `'${publicUrl}'` }),
    ...settings,
  };
  const listOf = (name: string) => (lastOf(query, name) ?? '').split(',').filter((one) => one !== '');
  const [keys, prefixes] = [listOf('keys'), listOf('prefixes').map((prefix) => `${prefix.replace(/\.$/, '')}.`)];
  const shown = Object.entries(all).filter(
    ([name]) => keys.includes(name) || prefixes.some((prefix) => name.startsWith(prefix)),
  );
  return Object.fromEntries(shown);
}
