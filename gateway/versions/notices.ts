// Writes notices to organizations about the deprecated operations that they still call, as one plain text each.

import type { AffectedOrganization } from './report.ts';

export interface Notice {
  readonly organization: string;
  readonly contacts: readonly string[];
  readonly subject: string;
  readonly text: string;
}

/** Returns the notices. Skips deleted organizations. An organization without contacts gets a notice, too, for operators to read. */
export function noticesOf(affected: readonly AffectedOrganization[], sinceDay: string, publicUrl: string): Notice[] {
  return affected.flatMap((one) => {
    const { organization } = one;
    if (organization === undefined) return [];
    return { organization: one.id, contacts: organization.contacts, ...wordsFor(one, sinceDay, publicUrl) };
  });
}

function wordsFor({ organization, operations, id }: AffectedOrganization, sinceDay: string, publicUrl: string) {
  const ends = operations.flatMap(({ deprecation }) => deprecation.sunset ?? []).sort();
  const first = ends[0];
  const subject = `Deprecated API operations in use at ${new URL(publicUrl).host}${first === undefined ? '' : `: the first ends on ${first}`}`;
  const guides = [...new Set(operations.flatMap(({ deprecation }) => deprecation.guide ?? []))];
  const lines = [
    'Hello,',
    '',
    `since ${sinceDay} your organization ${plain(organization?.name ?? id)} (${id}) has called operations of ${publicUrl} that are deprecated:`,
    '',
    ...operations.flatMap(({ deprecation, calls, lastAtMs }) => [
      `  ${deprecation.operation.method} ${deprecation.operation.path}`,
      `    deprecated on ${deprecation.deprecated}${deprecation.sunset === undefined ? '' : `, answered with 410 from ${deprecation.sunset} on`}`,
      ...(deprecation.successor === undefined ? [] : [`    followed by ${deprecation.successor}`]),
      `    ${calls} ${calls === 1 ? 'call' : 'calls'}, the last at ${new Date(lastAtMs).toISOString()}`,
    ]),
    '',
    ...(guides.length === 0 ? [] : ['How to move on:', ...guides.map((guide) => `  ${guide}`), '']),
    'Answers of these operations carry the headers Deprecation, Sunset and Link, so that you can find where they are called.',
  ];
  return { subject, text: `${lines.join('\n')}\n` };
}

/** Reduces a name to one line, because organizations choose their names freely. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}
