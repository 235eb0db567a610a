// Pure: what the mail server makes of the address of an external member.

/** Last labels that are no country's and under which addresses exist; the real server has the whole list of public suffixes. */
const SUFFIXES = [
  ...['com', 'org', 'net', 'info', 'edu', 'gov', 'mil', 'int', 'biz', 'name', 'pro', 'coop', 'aero', 'museum', 'jobs'],
  ...['app', 'dev', 'cloud', 'online', 'site', 'shop', 'store', 'blog', 'email', 'tech', 'agency', 'group', 'page'],
];

/**
 * Without white space and in lower case; undefined without a local part, with a dot where none can be, or without a label before a public
 * suffix.
 */
export function externalAddressOf(text: string): string | undefined {
  const address = text.replace(/\s+/gu, '').toLowerCase();
  if (!/^[^@]+@[^@]+$/.test(address) || /(?:^|[^\p{L}\p{N}_-])\.|\.$/u.test(address)) return undefined;
  const labels = address.slice(address.indexOf('@') + 1).split('.');
  const last = labels.at(-1) ?? '';
  return labels.length > 1 && (/^[a-z]{2}$/.test(last) || SUFFIXES.includes(last)) ? address : undefined;
}
